import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Relay for media chunks: receivers fill buffers, one sender drains them. */
public class MediaRelay {
    static final int CHUNK = 256 * 1024;

    /** where chunks come from and go back to */
    static class Buffers {
        final boolean keep;
        final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

        Buffers(boolean keep) { this.keep = keep; }

        ByteBuffer take() {
            synchronized (free) {
                if (!free.isEmpty()) return free.pop().clear();
            }
            return ByteBuffer.allocateDirect(CHUNK);
        }

        void give(ByteBuffer b) {
            if (!keep) return;
            synchronized (free) {
                free.push(b);
            }
        }
    }

    static final AtomicLong relayed = new AtomicLong();

    public static void main(String[] a) throws Exception {
        Buffers buffers = new Buffers(a[0].equals("keep"));
        BlockingQueue<ByteBuffer> queue = new ArrayBlockingQueue<>(16);
        List<String> titles = new ArrayList<>();
        for (int i = 0; i < 300_000; i++) titles.add("title number " + i);
        for (int r = 0; r < 2; r++) {
            byte[] packet = new byte[1316];
            new Thread(() -> {
                try {
                    while (true) {
                        ByteBuffer b = buffers.take();
                        for (int i = 0; i < 24; i++) b.put(packet);
                        queue.put(b.flip());
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "receiver-" + r).start();
        }
        new Thread(() -> {
            long sum = 0;
            try {
                while (true) {
                    ByteBuffer b = queue.take();
                    while (b.remaining() >= 8) sum += b.getLong();
                    buffers.give(b);
                    relayed.incrementAndGet();
                }
            } catch (InterruptedException e) {
                System.out.println(sum);
            }
        }, "sender").start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + relayed.get() + " " + titles.size());
        }
    }
}
