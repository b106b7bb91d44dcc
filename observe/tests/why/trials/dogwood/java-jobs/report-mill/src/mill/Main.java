package mill;

import java.util.concurrent.atomic.LongAdder;

/** Renders the monthly statements of customers. */
public class Main {
    static final LongAdder rendered = new LongAdder();

    public static void main(String[] a) throws Exception {
        StatementRenderer renderer = new StatementRenderer();
        for (int i = 0; i < 2; i++) {
            int half = i;
            new Thread(() -> render(renderer, half), "statement-" + i).start();
        }
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + rendered.sum());
        }
    }

    static void render(StatementRenderer renderer, int half) {
        for (int customer = half; ; customer += 2) {
            renderer.render(customer);
            rendered.increment();
        }
    }
}
