import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Payment checks with an audit trail. */
public class PaymentAudit {
    static final Logger audit = LoggerFactory.getLogger("audit");
    static final AtomicLong checked = new AtomicLong();

    record Payment(long id, String iban, long cents) {}

    /** the tree of rules: as deep as the fraud people made it */
    static int check(Payment p, int depth) {
        if (depth == 0) {
            int risk = (int) ((p.cents() * 31 + p.iban().hashCode()) & 0x3f);
            audit.info("payment {} of {} cents to {} risk {}", p.id(), p.cents(), p.iban(), risk);
            return risk;
        }
        return check(p, depth - 1) + depth % 2;
    }

    static void configure(String file, String where) {
        LoggerContext c = (LoggerContext) LoggerFactory.getILoggerFactory();
        c.reset();
        PatternLayoutEncoder e = new PatternLayoutEncoder();
        e.setContext(c);
        e.setPattern("%d{HH:mm:ss.SSS} %level [%thread] " + where + " %msg%n");
        e.start();
        FileAppender<ILoggingEvent> f = new FileAppender<>();
        f.setContext(c);
        f.setFile(file);
        f.setEncoder(e);
        f.setImmediateFlush(false);
        f.start();
        c.getLogger("root").addAppender(f);
    }

    public static void main(String[] a) throws Exception {
        configure(a[0], a[1]);
        for (int t = 0; t < 2; t++) {
            int me = t;
            new Thread(() -> {
                for (long id = me;; id += 2) {
                    check(new Payment(id, "DE" + id % 10000, id * 37 % 100000), 80);
                    checked.incrementAndGet();
                }
            }, "check-" + t).start();
        }
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + checked.get());
        }
    }
}
