package mail;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Cleans a list of newsletter subscribers: is the domain of each address one that receives mail? */
public class DomainCheck {
    private static final LongAdder checked = new LongAdder();
    private static final ConcurrentHashMap<String, Integer> perProvider = new ConcurrentHashMap<>();

    record Subscriber(String name, String domain) {}

    private static void check(Subscriber s) {
        try {
            InetAddress mx = InetAddress.getByName("mx." + s.domain);
            perProvider.merge(mx.getHostAddress(), 1, Integer::sum);
        } catch (UnknownHostException e) {
            perProvider.merge("none", 1, Integer::sum);
        }
        checked.increment();
    }

    private static Iterable<Subscriber> list() {
        return () -> new java.util.Iterator<>() {
            private long n;

            public boolean hasNext() {
                return true;
            }

            public Subscriber next() {
                n++;
                return new Subscriber("user" + n, "d" + Long.toString(n * 7919 % 100_000_007, 36) + ".example.net");
            }
        };
    }

    public static void main(String[] a) throws Exception {
        Thread.ofPlatform().daemon().name("progress").start(() -> {
            while (true) {
                try {
                    Thread.sleep(500);
                } catch (InterruptedException e) {
                    return;
                }
                System.out.println("done " + checked.sum());
            }
        });
        Semaphore inFlight = new Semaphore(64);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Subscriber s : list()) {
                inFlight.acquire();
                threads.submit(() -> {
                    try {
                        check(s);
                    } finally {
                        inFlight.release();
                    }
                });
            }
        }
    }
}
