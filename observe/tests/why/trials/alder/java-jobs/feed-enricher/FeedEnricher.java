import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;

/** Takes pages of news items and adds facts to every item. */
public class FeedEnricher {
    record Item(long id, String topic) {}
    record Enriched(Item item, String facts) {}

    static class Facts {
        final String base;

        Facts(int port) { base = "http://127.0.0.1:" + port + "/facts/"; }

        String lookup(String topic) {
            try {
                HttpURLConnection c = (HttpURLConnection) new URL(base + topic).openConnection();
                try (InputStream in = c.getInputStream()) {
                    return new String(in.readAllBytes());
                }
            } catch (Exception e) {
                return "{}";
            }
        }
    }

    static final AtomicLong done = new AtomicLong();

    static List<Enriched> page(Facts facts, long page, Executor ex) {
        List<CompletableFuture<Enriched>> fs = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Item it = new Item(page * 40 + i, "topic" + (page + i) % 50);
            fs.add(CompletableFuture.supplyAsync(() -> facts.lookup(it.topic()), ex)
                    .thenApply(s -> {
                        done.incrementAndGet();
                        return new Enriched(it, s.toUpperCase());
                    }));
        }
        List<Enriched> out = new ArrayList<>();
        for (var f : fs) out.add(f.join());
        return out;
    }

    public static void main(String[] a) throws Exception {
        System.setProperty("http.maxConnections", "40");
        Facts facts = new Facts(Integer.parseInt(a[0]));
        Executor ex = a[1].equals("own") ? Executors.newFixedThreadPool(32) : ForkJoinPool.commonPool();
        for (int t = 0; t < 2; t++) {
            int first = t;
            new Thread(() -> {
                for (long p = first;; p += 2) page(facts, p, ex);
            }, "feed-" + t).start();
        }
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + done.get());
        }
    }
}
