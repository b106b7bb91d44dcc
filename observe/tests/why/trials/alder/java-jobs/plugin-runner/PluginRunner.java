import java.io.InputStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;

/** Runs the plugins of customers on events. */
public class PluginRunner {
    public static class Discount implements LongUnaryOperator {
        private final long[] table = new long[16];

        public Discount() {
            for (int i = 0; i < table.length; i++) table[i] = i * 3 % 7;
        }

        @Override public long applyAsLong(long cents) { return cents - table[(int) (cents & 15)]; }
    }

    /** sees the plugin's own copy of its classes */
    static class PluginLoader extends ClassLoader {
        final byte[] code;

        PluginLoader(byte[] code) {
            super(PluginRunner.class.getClassLoader());
            this.code = code;
        }

        @Override protected Class<?> loadClass(String n, boolean resolve) throws ClassNotFoundException {
            if (n.equals("PluginRunner$Discount")) {
                Class<?> c = findLoadedClass(n);
                return c != null ? c : defineClass(n, code, 0, code.length);
            }
            return super.loadClass(n, resolve);
        }
    }

    final Map<String, LongUnaryOperator> kept = new ConcurrentHashMap<>();
    final byte[] code;
    final boolean keep;
    final AtomicLong events = new AtomicLong();

    PluginRunner(boolean keep) throws Exception {
        this.keep = keep;
        try (InputStream in = PluginRunner.class.getResourceAsStream("PluginRunner$Discount.class")) {
            code = in.readAllBytes();
        }
    }

    LongUnaryOperator plugin() {
        try {
            return (LongUnaryOperator)
                new PluginLoader(code).loadClass("PluginRunner$Discount").getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    long run(String customer, long cents) {
        LongUnaryOperator p = keep ? kept.computeIfAbsent(customer, c -> plugin()) : plugin();
        events.incrementAndGet();
        return p.applyAsLong(cents);
    }

    public static void main(String[] a) throws Exception {
        PluginRunner r = new PluginRunner(a[0].equals("keep"));
        for (int t = 0; t < 2; t++)
            new Thread(() -> {
                long sum = 0;
                for (long i = 0; sum >= 0; i++) sum = (sum + r.run("customer" + i % 50, i)) & 0xffffff;
            }, "events-" + t).start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + r.events.get());
        }
    }
}
