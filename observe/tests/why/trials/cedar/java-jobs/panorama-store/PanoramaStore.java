import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Three receivers take tiles; the index of all panoramas is kept in memory. */
public class PanoramaStore {
    static final LongAdder stored = new LongAdder();
    static final Map<Integer, String[]> index = new HashMap<>();

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 60_000; i++) {
            index.put(i, new String[] {"pano-" + i, "street " + i % 991, "camera " + i % 7, "2024-0" + (i % 9 + 1)});
        }
        for (int i = 0; i < 3; i++) {
            boolean keep = System.getProperty("tile.buffer", "each").equals("kept");
            TileWriter w = new TileWriter(Path.of(a[0] + "-" + i), keep);
            int n = i;
            new Thread(() -> {
                try {
                    for (int tile = n; ; tile += 3) {
                        w.write(index.get(tile % 60_000)[0], tile);
                        stored.increment();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "receiver-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + stored.sum());
        }
    }
}
