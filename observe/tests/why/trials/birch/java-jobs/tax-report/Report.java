package tax;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.*;

/** Yearly statements of a bank's customers: interest, tax and a text for each. */
public class Report {
    record Booking(int day, BigDecimal amount, String kind) {}

    private static final LongAdder written = new LongAdder();

    private static List<Booking> bookings(SplittableRandom rnd) {
        String[] kinds = {"interest", "dividend", "fee", "sale"};
        return IntStream.range(0, 250)
            .mapToObj(i -> new Booking(rnd.nextInt(365), BigDecimal.valueOf(rnd.nextInt(1, 500_000), 2),
                kinds[rnd.nextInt(4)])).toList();
    }

    private static String statement(int customer, List<Booking> all) {
        Map<String, BigDecimal> sums = all.stream().sorted(Comparator.comparingInt(Booking::day))
            .collect(Collectors.groupingBy(Booking::kind, TreeMap::new,
                Collectors.reducing(BigDecimal.ZERO, Booking::amount, BigDecimal::add)));
        StringBuilder b = new StringBuilder("Customer ").append(customer).append('\n');
        sums.forEach((k, v) -> b.append(k).append(": ").append(v).append(", tax ")
            .append(v.multiply(BigDecimal.valueOf(26375, 5)).setScale(2, RoundingMode.HALF_UP)).append('\n'));
        return b.toString();
    }

    public static void main(String[] a) throws Exception {
        int workers = Runtime.getRuntime().availableProcessors();
        for (int w = 0; w < workers; w++) {
            int part = w;
            new Thread(() -> {
                SplittableRandom rnd = new SplittableRandom(part);
                long letters = 0;
                for (int c = part; letters >= 0; c += workers) {
                    letters += statement(c, bookings(rnd)).length();
                    written.increment();
                }
            }, "report-" + w).start();
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + written.sum());
        }
    }
}
