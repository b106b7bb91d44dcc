import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A warehouse whose cache holds most of its memory; a thread and a list hold some. */
public class Warehouse {
    static final int ORDERS = 20_000;

    record Order(String id, byte[] picture) {
    }

    static class Cache {
        static final Map<String, Order> ENTRIES = new HashMap<>();
    }

    static final Object LOCK = new Object();
    static final List<Object> CHAIN = new LinkedList<>();
    static final List<List<Object>> EMPTY = new ArrayList<>();
    static final List<Object> SHARED = new ArrayList<>();
    static final ByteBuffer DIRECT = ByteBuffer.allocateDirect(1_234_567);

    public static void main(String[] args) throws Exception {
        int orders = args.length > 0 ? Integer.parseInt(args[0]) : ORDERS;
        for (int i = 0; i < orders; i++) {
            Cache.ENTRIES.put("order-" + i, new Order(new String("one of " + i % 10), new byte[200]));
        }
        for (int i = 0; i < 5_000; i++) {
            CHAIN.add(new long[10]);
            EMPTY.add(new ArrayList<>());
        }
        for (int i = 0; i < 3_000; i++) {
            SHARED.add(new ConcurrentHashMap<>());
            Map<Integer, String> one = new ConcurrentHashMap<>();
            one.put(i, "one");
            SHARED.add(one);
            ArrayDeque<String> deque = new ArrayDeque<>();
            deque.add("one");
            SHARED.add(deque);
        }
        Thread holder = new Thread(Warehouse::hold, "holder");
        holder.setDaemon(true);
        holder.start();
        while (holder.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        System.out.println("ready");
        System.in.read();
    }

    private static void hold() {
        int[] held = new int[100_000];
        held[7] = 7;
        synchronized (LOCK) {
            try {
                LOCK.wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        System.out.println(held[7]);
    }
}
