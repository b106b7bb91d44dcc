import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

public class Poster {
    static final int W = 2400, H = 1600;
    static final AtomicInteger nextRow = new AtomicInteger();
    static final AtomicLong rows = new AtomicLong();
    static final byte[][] picture = new byte[H][W];

    static void render(int row, double zoom) {
        byte[] line = picture[row];
        for (int x = 0; x < W; x++) {
            double cr = (x - W * 0.7) / (W * 0.35) / zoom, ci = (row - H * 0.5) / (H * 0.45) / zoom, r = 0, i = 0;
            int n = 0;
            while (n < 200 && r * r + i * i < 4) {
                double t = r * r - i * i + cr;
                i = 2 * r * i + ci;
                r = t;
                n++;
            }
            line[x] = (byte) n;
        }
    }

    public static void main(String[] a) throws Exception {
        int cpus = Runtime.getRuntime().availableProcessors();
        for (int t = 0; t < cpus; t++)
            new Thread(() -> {
                while (true) {
                    int k = nextRow.getAndIncrement() & 0x7fffffff;
                    render(k % H, 1 + k / H % 5);
                    rows.incrementAndGet();
                }
            }, "render-" + t).start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + rows.get());
        }
    }
}
