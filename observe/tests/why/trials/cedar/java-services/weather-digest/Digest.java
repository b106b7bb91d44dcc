import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Collects the reports of weather stations. */
public class Digest {
    static final AtomicLong reports = new AtomicLong();
    static final ConcurrentHashMap<String, Integer> digest = new ConcurrentHashMap<>();

    public static void main(String[] a) throws Exception {
        int port = Integer.parseInt(a[0]);
        for (int i = 0; i < 4; i++) {
            int n = i;
            new Thread(() -> {
                for (int k = 0; ; k++) {
                    String id = "EDD" + (char) ('A' + (k * 5 + n) % 26);
                    try {
                        String text = new Station(id, port).fetch();
                        digest.merge(id, text.hashCode(), (x, y) -> x * 31 + y);
                        reports.incrementAndGet();
                    } catch (Exception e) {
                        System.err.println(id + " " + e);
                    }
                }
            }, "collector-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + reports.get());
        }
    }
}
