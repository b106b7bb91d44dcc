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
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.catalina.startup.Tomcat;

/** The books of each shelf. */
public class Catalogue extends HttpServlet {
    private final HikariDataSource books;

    Catalogue(HikariDataSource books) {
        this.books = books;
    }

    @Override
    protected void doGet(HttpServletRequest req, HttpServletResponse resp) throws IOException {
        resp.setContentType("text/plain; charset=utf-8");
        try (Connection c = books.getConnection();
                var s = c.prepareStatement("select id, title, lent from book where shelf = ? order by title")) {
            s.setInt(1, Integer.parseInt(req.getParameter("shelf")));
            try (var rs = s.executeQuery()) {
                while (rs.next()) {
                    String lent = rs.getBoolean(3) ? " (lent)" : "";
                    resp.getWriter().println(rs.getInt(1) + " " + rs.getString(2) + lent);
                }
            }
        } catch (SQLException e) {
            resp.sendError(500, e.getMessage());
        }
    }

    private void bringBack() {
        try (Connection c = books.getConnection(); var s = c.createStatement()) {
            s.executeUpdate("update book set lent = not lent where mod(id, 97) = " + System.nanoTime() % 97);
        } catch (SQLException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] a) throws Exception {
        HikariConfig hc = new HikariConfig();
        hc.setJdbcUrl("jdbc:h2:mem:library;DB_CLOSE_DELAY=-1");
        hc.setMaximumPoolSize(20);
        HikariDataSource ds = new HikariDataSource(hc);
        try (Connection c = ds.getConnection(); var s = c.createStatement()) {
            s.execute("create table book(id int primary key, shelf int, title varchar(60), lent boolean)");
            s.execute("insert into book select x, mod(x, 400), 'Title ' || mod(x * 7919, 9973), mod(x, 5) = 0 "
                + "from system_range(1, 8000)");
            s.execute("create index by_shelf on book(shelf)");
        }
        Catalogue servlet = new Catalogue(ds);
        Executors.newScheduledThreadPool(3).scheduleWithFixedDelay(servlet::bringBack, 1, 1, TimeUnit.SECONDS);
        File base = Files.createTempDirectory(new File(".").toPath(), "tomcat").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.getAbsolutePath());
        tomcat.setPort(Integer.parseInt(a[0]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("minSpareThreads", "150");
        var ctx = tomcat.addContext("", base.getAbsolutePath());
        Tomcat.addServlet(ctx, "books", servlet);
        ctx.addServletMappingDecoded("/books", "books");
        tomcat.start();
        System.out.println("ready");
        tomcat.getServer().await();
    }
}
