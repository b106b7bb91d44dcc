import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;

/** Two matchers find the road of each position; each vehicle's session waits for its next command. */
public class Tracker {
    static final LongAdder matched = new LongAdder();
    static final double[] roads = new double[4000];

    static void session(LinkedBlockingQueue<String> commands, int level) throws InterruptedException {
        if (level > 0) {
            session(commands, level - 1);
            return;
        }
        while (true) {
            String command = commands.take();
            if (command.equals("stop")) {
                return;
            }
        }
    }

    static int nearest(double x) {
        int best = 0;
        double d = Double.MAX_VALUE;
        for (int i = 0; i < roads.length; i++) {
            double e = Math.abs(roads[i] - x);
            if (e < d) {
                d = e;
                best = i;
            }
        }
        return best;
    }

    public static void main(String[] a) throws Exception {
        SplittableRandom r = new SplittableRandom(5);
        for (int i = 0; i < roads.length; i++) {
            roads[i] = r.nextDouble();
        }
        for (int i = 0; i < 500; i++) {
            LinkedBlockingQueue<String> q = new LinkedBlockingQueue<>();
            int depth = 80 + i % 40;
            Thread t = new Thread(() -> {
                try {
                    session(q, depth);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "vehicle-" + i);
            t.setDaemon(true);
            t.start();
        }
        for (int i = 0; i < 2; i++) {
            SplittableRandom mine = r.split();
            new Thread(() -> {
                long sum = 0;
                while (sum >= 0) {
                    sum += nearest(mine.nextDouble());
                    matched.increment();
                }
            }, "matcher-" + i).start();
        }
        Thread w = new Thread(new Watchdog(Long.getLong("watchdog.period", 1)), "stall-watchdog");
        w.setDaemon(true);
        w.start();
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + matched.sum());
        }
    }
}
