package ferry;

import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Follows every ferry with a virtual thread of its own; each looks every ten seconds or so. */
public class Main {
    static final LongAdder looks = new LongAdder();

    public static void main(String[] a) throws Exception {
        Harbour harbour = new Harbour();
        try (var watchers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < Integer.parseInt(a[0]); i++) {
                int ferry = i;
                watchers.submit(() -> watch(ferry, harbour));
            }
            while (true) {
                Thread.sleep(250);
                System.out.println("done " + looks.sum());
            }
        }
    }

    static Void watch(int ferry, Harbour harbour) throws InterruptedException {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        Thread.sleep(r.nextInt(10_000));
        while (true) {
            harbour.report(ferry, Position.at(ferry, System.currentTimeMillis()));
            looks.increment();
            Thread.sleep(9_500 + r.nextInt(1_000));
        }
    }
}
