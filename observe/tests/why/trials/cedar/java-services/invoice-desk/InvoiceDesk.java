import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.LongAdder;

/** Eight desks write invoices of tenant 7. */
public class InvoiceDesk {
    static final LongAdder invoices = new LongAdder();

    static long nextNumber(Connection c, int tenant) throws SQLException {
        try (var s = c.prepareStatement("update invoice_counter set last = last + 1 where tenant = ? returning last")) {
            s.setInt(1, tenant);
            try (var rs = s.executeQuery()) {
                rs.next();
                return rs.getLong(1);
            }
        }
    }

    static void desk(HikariDataSource ds, int taxPort, boolean early) throws Exception {
        Socket tax = new Socket("127.0.0.1", taxPort);
        tax.setTcpNoDelay(true);
        BufferedReader taxIn = new BufferedReader(new InputStreamReader(tax.getInputStream()));
        for (int n = 0; ; n++) {
            try (Connection c = ds.getConnection()) {
                c.setAutoCommit(false);
                long number = early ? nextNumber(c, 7) : 0;
                tax.getOutputStream().write(("TAX DE " + n % 5000 + "\n").getBytes());
                String answer = taxIn.readLine();
                if (!early) {
                    number = nextNumber(c, 7);
                }
                try (var s = c.prepareStatement("insert into invoice(tenant, number, cents, tax) values(7, ?, ?, ?)")) {
                    s.setLong(1, number);
                    s.setInt(2, n % 5000);
                    s.setString(3, answer);
                    s.executeUpdate();
                }
                c.commit();
            }
            invoices.increment();
        }
    }

    public static void main(String[] a) throws Exception {
        HikariConfig hc = new HikariConfig();
        hc.setJdbcUrl("jdbc:postgresql://127.0.0.1:" + a[0] + "/postgres");
        hc.setUsername("app");
        hc.setPoolName("invoices");
        hc.setMaximumPoolSize(10);
        HikariDataSource ds = new HikariDataSource(hc);
        try (Connection c = ds.getConnection(); var s = c.createStatement()) {
            s.execute("create table invoice_counter(tenant int primary key, last bigint) with (fillfactor = 10)");
            s.execute("insert into invoice_counter select g, 0 from generate_series(1, 20) g");
            s.execute("create table invoice(tenant int, number bigint, cents int, tax text)");
        }
        boolean early = System.getProperty("number.when", "early").equals("early");
        for (int i = 0; i < 8; i++) {
            new Thread(() -> {
                try {
                    desk(ds, Integer.parseInt(a[1]), early);
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "desk-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + invoices.sum());
        }
    }
}
