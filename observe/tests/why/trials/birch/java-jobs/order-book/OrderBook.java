package exchange;

import java.util.*;
import java.util.concurrent.atomic.LongAdder;

/** Keeps the open orders of an exchange in memory and matches them with new ones. */
public class OrderBook {
    private static final int OPEN = 620_000;

    static final class Order {
        final long id;
        final String trader;
        long price;
        int quantity;
        Order next;

        Order(long id, String trader, long price, int quantity) {
            this.id = id;
            this.trader = trader;
            this.price = price;
            this.quantity = quantity;
        }
    }

    private final HashMap<Long, Order> open = new HashMap<>(1 << 20);
    private final Order[] levels = new Order[4096];
    private final SplittableRandom rnd = new SplittableRandom(7);
    private long nextId;

    private void add() {
        long id = nextId++;
        Order o = new Order(id, "T" + rnd.nextInt(100_000), 10_000 + rnd.nextInt(4096), 1 + rnd.nextInt(500));
        open.put(id, o);
        int level = (int) (o.price & 4095);
        o.next = levels[level] != null && levels[level].quantity == 0 ? null : levels[level];
        if (o.next != null) {
            o.next.next = null;
        }
        levels[level] = o;
    }

    private void match() {
        Order o = open.remove(nextId - OPEN);
        if (o != null) {
            o.quantity = 0;
        }
        add();
    }

    private String confirm(long n) {
        StringBuilder b = new StringBuilder(200);
        b.append("<ack seq='").append(n).append("' open='").append(open.size())
            .append("' px='").append(levels[(int) (n & 4095)]).append("'/>");
        return b.toString();
    }

    public static void main(String[] a) throws Exception {
        OrderBook book = new OrderBook();
        for (int i = 0; i < OPEN; i++) {
            book.add();
        }
        LongAdder done = new LongAdder();
        new Thread(() -> {
            int sum = 0;
            while (sum != Integer.MIN_VALUE) {
                for (int i = 0; i < 200; i++) {
                    book.match();
                    sum ^= book.confirm(i).hashCode() | 1;
                }
                done.add(200);
            }
        }, "matcher").start();
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + done.sum());
        }
    }
}
