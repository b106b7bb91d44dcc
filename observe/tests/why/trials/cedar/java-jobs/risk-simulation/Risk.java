import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Value at risk of a portfolio, one thread per processor, each with scenarios of its own. */
public class Risk {
    static final LongAdder scenarios = new LongAdder();
    static final int ASSETS = 60;

    record Scenario(double[] shocks, double loss) { }

    static Scenario simulate(SplittableRandom r, double[] weights, double[][] factors) {
        double[] shocks = new double[ASSETS];
        for (int i = 0; i < ASSETS; i++) {
            shocks[i] = Math.sqrt(-2 * Math.log(1 - r.nextDouble())) * Math.cos(2 * Math.PI * r.nextDouble());
        }
        double loss = 0;
        for (int i = 0; i < ASSETS; i++) {
            double move = 0;
            for (int j = 0; j <= i; j++) {
                move += factors[i][j] * shocks[j];
            }
            loss -= weights[i] * (Math.exp(0.01 * move) - 1);
        }
        return new Scenario(shocks, loss);
    }

    static void work(int n, double[] weights, double[][] factors) {
        SplittableRandom r = new SplittableRandom(n);
        double worst = 0;
        while (true) {
            Scenario[] batch = new Scenario[2000];
            for (int i = 0; i < batch.length; i++) {
                batch[i] = simulate(r, weights, factors);
            }
            Arrays.sort(batch, (a, b) -> Double.compare(b.loss(), a.loss()));
            worst = Math.max(worst, batch[batch.length / 100].loss() + batch[0].shocks()[0] * 1e-9);
            scenarios.add(batch.length);
            if (Double.isNaN(worst)) {
                System.out.println("no result");
            }
        }
    }

    public static void main(String[] a) throws Exception {
        SplittableRandom r = new SplittableRandom(3);
        double[] weights = new double[ASSETS];
        double[][] factors = new double[ASSETS][ASSETS];
        for (int i = 0; i < ASSETS; i++) {
            weights[i] = r.nextDouble() * 1000;
            for (int j = 0; j < ASSETS; j++) {
                factors[i][j] = (r.nextDouble() - 0.3) / (1 + Math.abs(i - j));
            }
        }
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            int n = i;
            new Thread(() -> work(n, weights, factors), "simulation-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + scenarios.sum());
        }
    }
}
