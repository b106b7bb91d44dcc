package video;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.atomic.LongAdder;

/** Relays frames of surveillance cameras into a ring file and keeps an index of what was seen. */
public class FrameRelay {
    private static final int FRAME = 96 * 1024;
    private static final LongAdder relayed = new LongAdder();

    record Sighting(int camera, long at, String label) {}

    private final Deque<Sighting> index = new ArrayDeque<>();
    private final boolean reuse;
    private final ThreadLocal<ByteBuffer> mine = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(FRAME));

    FrameRelay(boolean reuse) {
        this.reuse = reuse;
        for (int i = 0; i < 600_000; i++) {
            index.add(new Sighting(i % 16, i, "car-" + i));
        }
    }

    private ByteBuffer frameBuffer() {
        if (reuse) {
            ByteBuffer b = mine.get();
            b.clear();
            return b;
        }
        return ByteBuffer.allocateDirect(FRAME);
    }

    private void relay(int camera, long n, FileChannel ring) throws Exception {
        ByteBuffer frame = frameBuffer();
        for (int i = 0; i < FRAME; i += 8) {
            frame.putLong(i, n * 31 + i);
        }
        frame.position(0).limit(FRAME);
        ring.write(frame, (n % 64) * FRAME);
        synchronized (index) {
            index.removeFirst();
            index.addLast(new Sighting(camera, n, "car-" + n));
        }
        relayed.increment();
    }

    public static void main(String[] a) throws Exception {
        FrameRelay relay = new FrameRelay(a[0].equals("reuse"));
        for (int c = 0; c < 3; c++) {
            int camera = c;
            FileChannel ring = FileChannel.open(Path.of(a[1] + c), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            new Thread(() -> {
                try {
                    for (long n = 0;; n++) {
                        relay.relay(camera, n, ring);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "camera-" + c).start();
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + relayed.sum());
        }
    }
}
