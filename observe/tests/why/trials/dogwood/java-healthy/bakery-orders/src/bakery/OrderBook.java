package bakery;

import jakarta.annotation.PostConstruct;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderBook {
    private final JdbcTemplate jdbc;
    private final Object tally = new Object();
    private long loaves;

    public OrderBook(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @PostConstruct
    void schema() {
        jdbc.execute("create table orders(id bigint auto_increment primary key, customer int, loaves int)");
        jdbc.execute("create index by_customer on orders(customer)");
    }

    @Transactional
    public long enter(int customer, int n) {
        jdbc.update("insert into orders(customer, loaves) values(?, ?)", customer, n);
        synchronized (tally) {
            loaves += n;
        }
        return jdbc.queryForObject("select count(*) from orders where customer = ?", Long.class, customer);
    }

    public long loavesToday() {
        synchronized (tally) {
            return loaves;
        }
    }
}
