package logistics;

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

/** Plans delivery tours: for each tour it needs the traffic of its six legs. */
public class RoutePlanner {
    private static final AtomicLong planned = new AtomicLong();
    private static int trafficPort;

    record Leg(int from, int to) {}

    private static int traffic(Leg leg) {
        try {
            HttpURLConnection c = (HttpURLConnection) URI.create(
                "http://127.0.0.1:" + trafficPort + "/leg/" + leg.from + "/" + leg.to).toURL().openConnection();
            try (InputStream in = c.getInputStream()) {
                int sum = 0;
                for (byte b : in.readAllBytes()) {
                    sum += b;
                }
                return sum;
            }
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }

    private static CompletableFuture<Integer> plan(List<Leg> legs, Executor io) {
        List<CompletableFuture<Integer>> parts = new ArrayList<>();
        for (Leg l : legs) {
            parts.add((io == null ? CompletableFuture.supplyAsync(() -> traffic(l))
                                  : CompletableFuture.supplyAsync(() -> traffic(l), io)).thenApply(x -> x % 97 + 4));
        }
        return CompletableFuture.allOf(parts.toArray(new CompletableFuture[0]))
            .thenApply(v -> parts.stream().mapToInt(CompletableFuture::join).sum());
    }

    public static void main(String[] a) throws Exception {
        System.setProperty("http.maxConnections", "64");
        trafficPort = Integer.parseInt(a[0]);
        Executor io = a[1].equals("own") ? Executors.newFixedThreadPool(48) : null;
        for (int d = 0; d < 8; d++) {
            new Thread(() -> {
                Random rnd = new Random();
                while (true) {
                    List<Leg> legs = new ArrayList<>();
                    for (int i = 0; i < 6; i++) {
                        legs.add(new Leg(rnd.nextInt(500), rnd.nextInt(500)));
                    }
                    plan(legs, io).join();
                    planned.incrementAndGet();
                }
            }, "dispatcher-" + d).start();
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + planned.get());
        }
    }
}
