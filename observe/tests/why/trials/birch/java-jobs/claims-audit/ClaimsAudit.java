package claims;

import java.util.SplittableRandom;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.ThreadContext;

/** Rates insurance claims by rules and records each decision for the auditors. */
public class ClaimsAudit {
    private static final Logger log = LogManager.getLogger(ClaimsAudit.class);
    private static final AtomicLong decided = new AtomicLong();

    record Claim(long id, int cents, int age, int[] items) {}

    private static double score(Claim c) {
        double s = Math.log1p(c.cents) * 3;
        for (int round = 0; round < 20; round++) {
            for (int i : c.items) {
                s = s * 0.98 + Math.sqrt(i + round) / (1 + c.age);
            }
        }
        return s;
    }

    private static void decide(SplittableRandom rnd) {
        Claim c = new Claim(rnd.nextLong(1_000_000_000), rnd.nextInt(5_000_00), rnd.nextInt(90),
            rnd.ints(200, 0, 1000).toArray());
        ThreadContext.put("claim", Long.toString(c.id));
        double s = score(c);
        String verdict = s > 40 ? "REFER" : s > 30 ? "REVIEW" : "PAY";
        log.info("scored {} for {} cents, policy holder of {} years, {} items", s, c.cents, c.age, c.items.length);
        log.info("decided {} by rule set 2024-11 after {} rounds", verdict, 20);
        ThreadContext.clearAll();
        decided.incrementAndGet();
    }

    public static void main(String[] a) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4, run -> new Thread(run, "adjuster"));
        for (int i = 0; i < 4; i++) {
            int seed = i;
            pool.execute(() -> {
                SplittableRandom rnd = new SplittableRandom(seed);
                while (true) {
                    decide(rnd);
                }
            });
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + decided.get());
        }
    }
}
