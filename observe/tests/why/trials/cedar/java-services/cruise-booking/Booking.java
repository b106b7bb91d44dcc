import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.apache.catalina.startup.Tomcat;

/** Books cabins: one servlet, a database, and a payment provider. */
public class Booking extends HttpServlet {
    private final HikariDataSource cabins;
    private final Payments payments;
    private final boolean chargeInside;

    Booking(HikariDataSource cabins, Payments payments, boolean chargeInside) {
        this.cabins = cabins;
        this.payments = payments;
        this.chargeInside = chargeInside;
    }

    @Override
    protected void doGet(HttpServletRequest req, HttpServletResponse resp) throws IOException {
        int cabin = Integer.parseInt(req.getParameter("cabin"));
        try {
            String receipt = chargeInside ? null : payments.charge(cabin, 129_900);
            try (Connection c = cabins.getConnection()) {
                c.setAutoCommit(false);
                long id = reserve(c, cabin);
                if (chargeInside) {
                    receipt = payments.charge(cabin, 129_900);
                }
                confirm(c, id, receipt);
                c.commit();
            }
            resp.setContentType("text/plain");
            resp.getWriter().println("booked " + cabin);
        } catch (SQLException | InterruptedException e) {
            resp.sendError(503, e.toString());
        }
    }

    private static long reserve(Connection c, int cabin) throws SQLException {
        try (var s = c.prepareStatement("insert into booking(cabin, made) values(?, current_timestamp)",
                Statement.RETURN_GENERATED_KEYS)) {
            s.setInt(1, cabin);
            s.executeUpdate();
            try (var keys = s.getGeneratedKeys()) {
                keys.next();
                return keys.getLong(1);
            }
        }
    }

    private static void confirm(Connection c, long id, String receipt) throws SQLException {
        try (var s = c.prepareStatement("update booking set receipt = ? where id = ?")) {
            s.setString(1, receipt.substring(0, Math.min(60, receipt.length())));
            s.setLong(2, id);
            s.executeUpdate();
        }
    }

    private static void expireOld(HikariDataSource ds) {
        while (true) {
            try {
                Thread.sleep(5000);
                try (Connection c = ds.getConnection(); var s = c.createStatement()) {
                    s.executeUpdate("delete from booking where made < dateadd(minute, -1, current_timestamp)");
                }
            } catch (Exception e) {
                System.err.println("expiry: " + e);
            }
        }
    }

    public static void main(String[] a) throws Exception {
        HikariConfig hc = new HikariConfig();
        hc.setJdbcUrl("jdbc:h2:mem:cabins;DB_CLOSE_DELAY=-1");
        hc.setPoolName("cabins");
        hc.setMaximumPoolSize(3);
        hc.setConnectionTimeout(30_000);
        HikariDataSource ds = new HikariDataSource(hc);
        try (Connection c = ds.getConnection(); var s = c.createStatement()) {
            s.execute("create table booking(id identity primary key, cabin int, made timestamp, receipt varchar(80))");
        }
        Thread cleaner = new Thread(() -> expireOld(ds), "booking-expiry");
        cleaner.setDaemon(true);
        cleaner.start();

        File base = Files.createTempDirectory(new File(".").toPath(), "tomcat").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.getAbsolutePath());
        tomcat.setPort(Integer.parseInt(a[0]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        var ctx = tomcat.addContext("", base.getAbsolutePath());
        Tomcat.addServlet(ctx, "book", new Booking(ds, new Payments(Integer.parseInt(a[1])), a[2].equals("inside")));
        ctx.addServletMappingDecoded("/book", "book");
        tomcat.start();
        System.out.println("ready");
        tomcat.getServer().await();
    }
}
