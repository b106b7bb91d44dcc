import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Tours of a depot, improved by exchanges of stops. */
public class DepotPlanner {
    static final class Stop {
        final String name;
        final double x, y;
        final List<String> notes = new ArrayList<>(2);

        Stop(int i, Random r) {
            name = "stop " + i;
            x = r.nextDouble();
            y = r.nextDouble();
            notes.add("ring at " + i % 90);
        }
    }

    final Stop[] tour;
    final Random r = new Random(3);
    double gained;

    DepotPlanner(int n) {
        tour = new Stop[n];
        for (int i = 0; i < n; i++) tour[i] = new Stop(i, r);
    }

    double dist(int a, int b) {
        Stop p = tour[a], q = tour[b];
        return Math.hypot(p.x - q.x, p.y - q.y);
    }

    void improve() {
        int n = tour.length, i = 1 + r.nextInt(n - 2), k = 1 + r.nextInt(n - 2);
        double before = dist(i - 1, i) + dist(i, i + 1) + dist(k - 1, k) + dist(k, k + 1);
        Stop s = tour[i];
        tour[i] = tour[k];
        tour[k] = s;
        double after = dist(i - 1, i) + dist(i, i + 1) + dist(k - 1, k) + dist(k, k + 1);
        if (after >= before) {
            tour[k] = tour[i];
            tour[i] = s;
        } else {
            gained += before - after;
        }
    }

    public static void main(String[] a) {
        DepotPlanner p = new DepotPlanner(600_000);
        long last = 0;
        for (long n = 1;; n++) {
            p.improve();
            if ((n & 0xfff) == 0 && System.currentTimeMillis() - last > 1000) {
                last = System.currentTimeMillis();
                System.out.println("done " + n / 1000 + " gained " + p.gained);
            }
        }
    }
}
