package payroll;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** Computes pay slips by rules that each customer delivers as a jar. */
public class Payroll {
    public record Slip(int hours, int rate, int children, int group) {}

    private final URL rules;
    private final boolean once;
    private volatile ToLongFunction<Slip> loaded;

    Payroll(URL rules, boolean once) {
        this.rules = rules;
        this.once = once;
    }

    /** The rules in force now. */
    private ToLongFunction<Slip> rulesInForce() throws Exception {
        ToLongFunction<Slip> r = loaded;
        if (r == null || !once) {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {rules}, Payroll.class.getClassLoader())) {
                @SuppressWarnings("unchecked")
                var f = (ToLongFunction<Slip>)
                    loader.loadClass("payroll.rules.Rules").getDeclaredConstructor().newInstance();
                f.applyAsLong(new Slip(1, 1, 1, 1));
                loaded = r = f;
            }
        }
        return r;
    }

    public static void main(String[] a) throws Exception {
        Payroll p = new Payroll(Path.of(a[0]).toUri().toURL(), a[1].equals("once"));
        LongAdder done = new LongAdder(), cents = new LongAdder();
        for (int i = 0; i < 2; i++) {
            SplittableRandom rnd = new SplittableRandom(i);
            new Thread(() -> {
                try {
                    while (true) {
                        ToLongFunction<Slip> r = p.rulesInForce();
                        for (int s = 0; s < 40; s++) {
                            cents.add(r.applyAsLong(new Slip(rnd.nextInt(180),
                            2000 + rnd.nextInt(6000), rnd.nextInt(4), rnd.nextInt(6))));
                        }
                        done.increment();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "payroll-" + i).start();
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + done.sum());
        }
    }
}
