package auction;

import com.sun.net.httpserver.*;
import com.zaxxer.hikari.*;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.concurrent.Executors;

public class Main {
    public static void main(String[] a) throws Exception {
        HikariConfig cfg = new HikariConfig();
        cfg.setJdbcUrl("jdbc:postgresql://127.0.0.1:" + a[1] + "/postgres");
        cfg.setUsername("postgres");
        cfg.setMaximumPoolSize(20);
        HikariDataSource db = new HikariDataSource(cfg);
        try (Connection c = db.getConnection(); Statement s = c.createStatement()) {
            s.execute("create table sale_day(day int primary key, bids bigint, cents bigint)");
            s.execute("create table bid(id bigserial primary key, lot int, cents bigint, risk real)");
            s.execute("insert into sale_day select d, 0, 0 from generate_series(1, 365) d");
        }
        BidDesk desk = new BidDesk(db, new Screening(Integer.parseInt(a[2])), a[3].equals("b"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 256);
        server.setExecutor(Executors.newFixedThreadPool(20));
        server.createContext("/bid", ex -> bid(ex, desk));
        server.start();
    }

    static void bid(HttpExchange ex, BidDesk desk) throws IOException {
        String[] f = new String(ex.getRequestBody().readAllBytes(), StandardCharsets.UTF_8).split("[:,}]");
        try {
            byte[] body = ("{\"bid\":" + desk.place(Integer.parseInt(f[1]), Long.parseLong(f[3])) + "}").getBytes();
            ex.sendResponseHeaders(200, body.length);
            ex.getResponseBody().write(body);
        } catch (SQLException e) {
            ex.sendResponseHeaders(500, -1);
        }
        ex.close();
    }
}
