import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** City map in cells; planners look at the neighbourhood of places. */
public class CityMap {
    static boolean mixed;

    static final class Cell {
        final int x, y;

        Cell(int x, int y) {
            this.x = x;
            this.y = y;
        }

        @Override public int hashCode() {
            if (mixed) return (x * 0x9E3779B1 + y) * 0x85EBCA6B;
            return x ^ y;
        }

        @Override public boolean equals(Object o) {
            return o instanceof Cell c && c.x == x && c.y == y;
        }
    }

    static final int SIDE = 400;
    static final Map<Cell, Integer> heights = new HashMap<>();
    static final AtomicLong looked = new AtomicLong();

    static int around(int x, int y) {
        int sum = 0;
        for (int dx = -1; dx <= 1; dx++)
            for (int dy = -1; dy <= 1; dy++) {
                Integer h = heights.get(new Cell(x + dx, y + dy));
                if (h != null) sum += h;
            }
        return sum;
    }

    public static void main(String[] a) throws Exception {
        mixed = a[0].equals("mixed");
        for (int x = 0; x < SIDE; x++)
            for (int y = 0; y < SIDE; y++) heights.put(new Cell(x, y), (x * y) % 97);
        for (int t = 0; t < 2; t++) {
            int me = t;
            new Thread(() -> {
                Random r = new Random(me);
                long sum = 0;
                while (sum >= 0) {
                    sum += around(r.nextInt(SIDE), r.nextInt(SIDE));
                    looked.incrementAndGet();
                }
            }, "planner-" + t).start();
        }
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + looked.get());
        }
    }
}
