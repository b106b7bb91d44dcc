import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Three clerks answer quote requests; the compiled tariff of a lane is kept in a cache. */
public class TariffDesk {
    static final LongAdder quotes = new LongAdder();
    static final String[] PORTS = {"ROT", "HAM", "ANR", "SIN", "SHA", "LAX", "SAN", "DUR", "MUM", "GEN"};

    static class Lane {
        final String from;
        final String to;

        Lane(String from, String to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public String toString() {
            return from + "-" + to;
        }
    }

    record LaneKey(String from, String to) { }

    static final Cache<Object, double[]> tariffs = Caffeine.newBuilder().maximumSize(500).build();

    static double quote(Object lane, String from, String to, int kilos) {
        double[] steps = tariffs.get(lane, k -> TariffCompiler.compile(from, to));
        int i = Math.min(steps.length - 1, kilos / 50);
        return steps[i] * kilos;
    }

    static void clerk(int n, boolean records) {
        SplittableRandom r = new SplittableRandom(n);
        double sum = 0;
        while (true) {
            String from = PORTS[r.nextInt(PORTS.length)];
            String to = PORTS[r.nextInt(PORTS.length)];
            int kilos = r.nextInt(20_000);
            sum += quote(records ? new LaneKey(from, to) : new Lane(from, to), from, to, kilos);
            sum += surcharges(kilos, from, to);
            quotes.increment();
            if (sum < 0) {
                System.out.println(sum);
            }
        }
    }

    /** Fuel, security and season: what each quote costs in any case. */
    static double surcharges(int kilos, String from, String to) {
        double s = 0;
        for (int i = 1; i < 400; i++) {
            s += Math.sqrt(kilos * (double) i) / (i + from.hashCode() % 7 + to.hashCode() % 5 + 13);
        }
        return s;
    }

    public static void main(String[] a) throws Exception {
        boolean records = System.getProperty("desk.keys", "class").equals("record");
        for (int i = 0; i < 3; i++) {
            int n = i;
            new Thread(() -> clerk(n, records), "clerk-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + quotes.sum());
        }
    }
}
