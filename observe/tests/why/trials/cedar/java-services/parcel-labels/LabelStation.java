import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

/** Six printers; each asks the carrier's gateway for the label of the next parcel. */
public class LabelStation {
    static final AtomicLong printed = new AtomicLong();

    record Parcel(long id, int grams, String zip) { }

    static String print(String label) {
        StringBuilder zpl = new StringBuilder("^XA");
        for (String part : label.split(" ")) {
            zpl.append("^FO50,").append(zpl.length()).append("^FD").append(part).append("^FS");
        }
        return zpl.append("^XZ").toString();
    }

    public static void main(String[] a) throws Exception {
        GenericObjectPoolConfig<Gateway> c = new GenericObjectPoolConfig<>();
        c.setMaxTotal(8);
        c.setMaxIdle(8);
        if (System.getProperty("pool.test", "borrow").equals("borrow")) {
            c.setTestOnBorrow(true);
        } else {
            c.setTestWhileIdle(true);
        }
        GenericObjectPool<Gateway> pool = new GenericObjectPool<>(new GatewayFactory(Integer.parseInt(a[0])), c);
        BlockingQueue<Parcel> belt = new ArrayBlockingQueue<>(200);
        Thread scanner = new Thread(() -> {
            for (long n = 1; ; n++) {
                try {
                    belt.put(new Parcel(n, (int) (n * 37 % 4000), "%05d".formatted(n * 7919 % 99999)));
                } catch (InterruptedException e) {
                    return;
                }
            }
        }, "belt-scanner");
        scanner.start();
        for (int i = 0; i < 6; i++) {
            new Thread(() -> {
                while (true) {
                    try {
                        Parcel p = belt.take();
                        Gateway g = pool.borrowObject();
                        try {
                            String label = g.ask("LABEL " + p.id() + " " + p.grams() + " " + p.zip());
                            if (print(label).length() > 10) {
                                printed.incrementAndGet();
                            }
                        } finally {
                            pool.returnObject(g);
                        }
                    } catch (Exception e) {
                        System.err.println(e);
                    }
                }
            }, "printer-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + printed.get());
        }
    }
}
