import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Books orders arriving on a queue; prices come from the pricing service. */
public class OrderIntake {
    record Order(long id, String sku, int amount) {}

    private final HikariDataSource db;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String pricing;
    private final boolean early;
    private final BlockingQueue<Order> inbox = new ArrayBlockingQueue<>(200);
    private final AtomicLong booked = new AtomicLong();

    OrderIntake(int port, boolean early) throws Exception {
        pricing = "http://127.0.0.1:" + port + "/price/";
        this.early = early;
        HikariConfig c = new HikariConfig();
        c.setPoolName("orders");
        c.setJdbcUrl("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1");
        c.setMaximumPoolSize(4);
        c.setConnectionTimeout(30_000);
        db = new HikariDataSource(c);
        try (Connection k = db.getConnection()) {
            k.createStatement().execute("create table orders(id bigint primary key, sku varchar, amount int, price int)");
        }
    }

    int price(Order o) throws Exception {
        var r = http.send(HttpRequest.newBuilder(URI.create(pricing + o.sku())).build(),
                HttpResponse.BodyHandlers.ofString());
        return r.body().length() * o.amount();
    }

    void book(Order o) throws Exception {
        int price = early ? price(o) : 0;
        try (Connection c = db.getConnection();
                PreparedStatement ins = c.prepareStatement("insert into orders values(?,?,?,?)");
                PreparedStatement del = c.prepareStatement("delete from orders where id=?")) {
            if (!early) price = price(o);
            ins.setLong(1, o.id());
            ins.setString(2, o.sku());
            ins.setInt(3, o.amount());
            ins.setInt(4, price);
            ins.executeUpdate();
            del.setLong(1, o.id() - 500);
            del.executeUpdate();
        }
        booked.incrementAndGet();
    }

    void work() {
        while (true) {
            try {
                book(inbox.take());
            } catch (Exception e) {
                e.printStackTrace();
            }
        }
    }

    public static void main(String[] a) throws Exception {
        OrderIntake in = new OrderIntake(Integer.parseInt(a[0]), a[1].equals("early"));
        for (int i = 0; i < 24; i++) new Thread(in::work, "intake-" + i).start();
        new Thread(() -> {
            try {
                for (long id = 1;; id++) in.inbox.put(new Order(id, "sku" + id % 300, (int) (id % 9)));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "queue-reader").start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + in.booked.get());
        }
    }
}
