import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

public class HelpDesk {
    static final AtomicLong answered = new AtomicLong();
    static final LinkedBlockingQueue<Integer> letters = new LinkedBlockingQueue<>();

    static void agent(HikariDataSource db, int me) {
        try {
            for (int i = me;; i++) {
                try (Connection c = db.getConnection();
                        PreparedStatement s = c.prepareStatement("select text from ticket where id=?")) {
                    s.setInt(1, i % 500);
                    try (ResultSet r = s.executeQuery()) {
                        if (r.next()) answered.incrementAndGet();
                    }
                }
                if (i % 100 == 0) letters.add(i);
                Thread.sleep(25);
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    public static void main(String[] a) throws Exception {
        HikariConfig c = new HikariConfig();
        c.setJdbcUrl("jdbc:h2:mem:desk;DB_CLOSE_DELAY=-1");
        c.setMaximumPoolSize(20);
        HikariDataSource db = new HikariDataSource(c);
        try (Connection k = db.getConnection()) {
            k.createStatement().execute("create table ticket as select x id, 'text ' || x text from system_range(0, 499)");
            k.createStatement().execute("create index i on ticket(id)");
        }
        for (int i = 0; i < 4; i++) {
            int me = i * 100;
            new Thread(() -> agent(db, me), "agent-" + i).start();
        }
        for (int i = 0; i < 8; i++)
            new Thread(() -> {
                try {
                    while (true) letters.take();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "letter-" + i).start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + answered.get());
        }
    }
}
