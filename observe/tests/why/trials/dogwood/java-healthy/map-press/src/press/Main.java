package press;

import java.nio.file.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Renders map tiles and packs them into archives. */
public class Main {
    static final LongAdder tiles = new LongAdder();

    public static void main(String[] a) throws Exception {
        BlockingQueue<byte[]> work = new ArrayBlockingQueue<>(16);
        for (int i = 0; i < 2; i++) {
            Path out = Path.of(a[0], "part-" + i + ".tar.gz");
            new Thread(() -> new TilePacker(work, out).run(), "packer-" + i).start();
        }
        new Thread(() -> new TileSource(work).run(), "tile-source").start();
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + tiles.sum());
        }
    }
}
