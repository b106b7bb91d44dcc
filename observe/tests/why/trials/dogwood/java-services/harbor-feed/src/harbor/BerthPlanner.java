package harbor;

import java.util.*;
import org.slf4j.*;

class BerthPlanner {
    private static final Logger log = LoggerFactory.getLogger(BerthPlanner.class);
    private static final int BERTHS = 24;

    int assign(String vessel, String report) {
        int best = -1;
        double least = Double.MAX_VALUE;
        List<String> costs = new ArrayList<>();
        for (int b = 0; b < BERTHS; b++) {
            double cost = cost(vessel.hashCode(), report.length(), b);
            costs.add(String.format(Locale.ROOT, "B%02d=%.5f", b, cost));
            if (cost < least) {
                least = cost;
                best = b;
            }
        }
        log.debug("assignment vessel={} candidates={}", vessel, costs);
        log.debug("assigned vessel={} berth={} cost={}", vessel, best, least);
        return best;
    }

    private double cost(int vessel, int size, int berth) {
        double d = Math.abs(Math.sin(vessel * 0.001 + berth)) * 900 + size;
        return Math.sqrt(d * d + berth * 3.5);
    }
}
