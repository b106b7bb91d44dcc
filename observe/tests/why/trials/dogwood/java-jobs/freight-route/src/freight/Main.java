package freight;

import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Computes the freight rates between depots over the road network. */
public class Main {
    static final LongAdder routed = new LongAdder();

    public static void main(String[] a) throws Exception {
        RoadNetwork roads = RoadNetwork.grid(45, 45, 3);
        ExecutorService planners = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) planners.submit(() -> plan(roads));
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + routed.sum());
        }
    }

    static void plan(RoadNetwork roads) {
        RateTable rates = new RateTable();
        ThreadLocalRandom r = ThreadLocalRandom.current();
        while (true) {
            int from = r.nextInt(roads.size()), to = r.nextInt(roads.size());
            rates.enter(from, to, roads.distance(from, to));
            routed.increment();
        }
    }
}
