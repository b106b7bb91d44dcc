package com.acme.pools;

import com.acme.web.Options;
import com.acme.web.TomcatWeb;
import com.acme.work.Remote;
import com.acme.work.Work;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;

/** Orders: a transaction reads the order, asks for the payment, and writes the order. */
public final class OrderService {
    private static final int ORDERS = 10_000;

    private final HikariDataSource database;
    private final Remote payments;

    private OrderService(HikariDataSource database, Remote payments) {
        this.database = database;
        this.payments = payments;
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        HikariConfig config = new HikariConfig();
        config.setPoolName("orders");
        config.setJdbcUrl("jdbc:h2:mem:orders");
        config.setMaximumPoolSize(options.number("connections"));
        config.setConnectionTimeout(30_000);
        HikariDataSource database = new HikariDataSource(config);
        fill(database);
        OrderService service = new OrderService(database, new Remote(options.number("payments")));
        Remote customers = new Remote(options.number("customers"));
        int rounds = options.number("hash");
        TomcatWeb.start(options, path -> customers.call() + Work.hash(rounds) + service.pay());
    }

    private static void fill(HikariDataSource database) throws Exception {
        try (Connection connection = database.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute("create table orders (id int primary key, total int, paid int)");
            statement.execute("insert into orders select x, x * 7, 0 from system_range(0, " + (ORDERS - 1) + ")");
        }
    }

    private String pay() throws Exception {
        int id = ThreadLocalRandom.current().nextInt(ORDERS);
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            int total;
            try (PreparedStatement read = connection.prepareStatement("select total from orders where id = ?")) {
                read.setInt(1, id);
                try (ResultSet rows = read.executeQuery()) {
                    rows.next();
                    total = rows.getInt(1);
                }
            }
            String receipt = payments.call();
            try (PreparedStatement write = connection.prepareStatement("update orders set paid = ? where id = ?")) {
                write.setInt(1, total);
                write.setInt(2, id);
                write.executeUpdate();
            }
            connection.commit();
            return receipt;
        }
    }
}
