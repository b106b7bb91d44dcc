import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;

/** Tells when a matcher has not moved for a while. */
final class Watchdog implements Runnable {
    private final long period;
    private final Map<Long, Integer> same = new HashMap<>();

    Watchdog(long period) {
        this.period = period;
    }

    @Override
    public void run() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Map<Long, Integer> last = new HashMap<>();
        while (true) {
            for (ThreadInfo t : threads.dumpAllThreads(true, true)) {
                if (!t.getThreadName().startsWith("matcher")) {
                    continue;
                }
                int now = java.util.Arrays.hashCode(t.getStackTrace());
                Integer before = last.put(t.getThreadId(), now);
                int n = before != null && before == now ? same.merge(t.getThreadId(), 1, Integer::sum) : 0;
                if (n > 100_000_000) {
                    System.err.println(t.getThreadName() + " stalls at " + t);
                }
            }
            try {
                Thread.sleep(period);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
