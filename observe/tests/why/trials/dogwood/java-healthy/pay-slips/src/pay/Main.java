package pay;

import com.zaxxer.hikari.*;
import java.sql.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Prints pay slips that the back office asks for, a dozen a second. */
public class Main {
    static final LongAdder printed = new LongAdder();

    public static void main(String[] a) throws Exception {
        HikariConfig cfg = new HikariConfig();
        cfg.setJdbcUrl("jdbc:postgresql://127.0.0.1:" + a[0] + "/postgres");
        cfg.setUsername("postgres");
        cfg.setMaximumPoolSize(10);
        HikariDataSource db = new HikariDataSource(cfg);
        try (Connection c = db.getConnection(); Statement s = c.createStatement()) {
            s.execute("create table employee(id int primary key, name text, gross int)");
            s.execute("insert into employee "
                + "select i, 'employee ' || i, 2000 + i % 3000 from generate_series(1, 5000) i");
        }
        BlockingQueue<Integer> asked = new LinkedBlockingQueue<>();
        SlipPrinter printer = new SlipPrinter(db);
        for (int i = 0; i < 24; i++) new Thread(() -> work(asked, printer), "slip-worker-" + i).start();
        Executors.newSingleThreadScheduledExecutor().scheduleAtFixedRate(
            () -> asked.add(1 + ThreadLocalRandom.current().nextInt(5_000)), 0, 80, TimeUnit.MILLISECONDS);
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + printed.sum());
        }
    }

    static void work(BlockingQueue<Integer> asked, SlipPrinter printer) {
        try {
            while (true) {
                printer.print(asked.take());
                printed.increment();
            }
        } catch (InterruptedException | SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
