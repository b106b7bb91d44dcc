import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Two desks settle trades; the netting tree of each trade is walked from the top down. */
public class Settlement {
    private static final Logger log = LoggerFactory.getLogger("audit");
    static final LongAdder settled = new LongAdder();

    interface Node {
        double net(int trade, int depth);
    }

    static final class Netting implements Node {
        private final Node below;
        private final double weight;

        Netting(Node below, double weight) {
            this.below = below;
            this.weight = weight;
        }

        @Override
        public double net(int trade, int depth) {
            return below.net(trade, depth + 1) * weight + depth * 1e-4;
        }
    }

    static final class Position implements Node {
        @Override
        public double net(int trade, int depth) {
            double amount = trade % 10_007 * 3.25;
            log.info("position of trade {} is {} at level {}", trade, amount, depth);
            return amount;
        }
    }

    static void desk(int n) {
        Node root = new Position();
        for (int i = 0; i < 160; i++) {
            root = new Netting(root, 0.999 - i * 1e-6);
        }
        for (int trade = n; ; trade += 2) {
            double net = root.net(trade, 0);
            if (net < 0) {
                log.warn("negative net {}", net);
            }
            settled.increment();
        }
    }

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 2; i++) {
            int n = i;
            new Thread(() -> desk(n), "desk-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + settled.sum());
        }
    }
}
