import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** In-memory risk engine: positions by book, revalued on each tick. */
public class RiskCache {
    static final class Position {
        final String isin;
        final double[] greeks = new double[8];
        double value;

        Position(String isin, Random r) {
            this.isin = isin;
            for (int i = 0; i < 8; i++) greeks[i] = r.nextDouble();
        }
    }

    record Quote(String isin, double price, double vol) {}

    final Map<String, List<Position>> books = new HashMap<>();
    final Random random = new Random(5);

    void load(int mb) {
        int n = mb * 1024 * 1024 / 216;
        for (int i = 0; i < n; i++)
            books.computeIfAbsent("book" + i % 400, k -> new ArrayList<>()).add(new Position("XS" + i, random));
    }

    double tick(int t) {
        double sum = 0;
        List<Position> book = books.get("book" + t % 400);
        for (Position p : book) {
            Quote q = new Quote(p.isin, 90 + t % 20, 0.2);
            double[] path = new double[24];
            for (int i = 0; i < path.length; i++) path[i] = q.price() * (1 + p.greeks[i & 7] * q.vol() / (i + 1));
            p.value = path[23] + path[12];
            sum += p.value;
        }
        return sum;
    }

    public static void main(String[] a) {
        RiskCache c = new RiskCache();
        c.load(Integer.parseInt(a[0]));
        long last = 0;
        double total = 0;
        for (int t = 1;; t++) {
            total += c.tick(t);
            if (System.currentTimeMillis() - last > 1000) {
                last = System.currentTimeMillis();
                System.out.println("done " + t + " " + total);
            }
        }
    }
}
