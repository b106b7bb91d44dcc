package desk;

import com.zaxxer.hikari.*;
import jakarta.servlet.http.*;
import java.io.IOException;
import java.sql.*;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.server.handler.AbstractHandler;

public class Main {
    public static void main(String[] args) throws Exception {
        HikariConfig cfg = new HikariConfig();
        cfg.setJdbcUrl("jdbc:h2:mem:desk;DB_CLOSE_DELAY=-1");
        cfg.setMaximumPoolSize(5);
        cfg.setPoolName("desk-db");
        HikariDataSource db = new HikariDataSource(cfg);
        schema(db);
        BookingService service = new BookingService(db, new PaymentClient(Integer.parseInt(args[1])), args[2]);
        Server server = new Server(Integer.parseInt(args[0]));
        server.setHandler(new AbstractHandler() {
            @Override
            public void handle(String target, Request base, HttpServletRequest req, HttpServletResponse res)
                    throws IOException {
                base.setHandled(true);
                req.getInputStream().readAllBytes();
                try {
                    long id = service.book(Integer.parseInt(target.substring(target.lastIndexOf('/') + 1)));
                    res.setContentType("application/json");
                    res.getOutputStream().write(("{\"booking\":" + id + "}").getBytes());
                } catch (SQLException | InterruptedException e) {
                    res.setStatus(503);
                }
            }
        });
        server.start();
        server.join();
    }

    static void schema(HikariDataSource db) throws SQLException {
        try (Connection c = db.getConnection(); Statement s = c.createStatement()) {
            s.execute("create table seat(id int primary key, sold int not null)");
            s.execute("create table booking(id bigint auto_increment primary key, seat int, payment varchar(40))");
            s.execute("insert into seat select x, 0 from system_range(0, 9999)");
        }
    }
}
