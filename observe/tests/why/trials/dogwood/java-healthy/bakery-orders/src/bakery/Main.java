package bakery;

import com.zaxxer.hikari.*;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.*;

@SpringBootApplication
public class Main {
    public static void main(String[] args) {
        SpringApplication app = new SpringApplication(Main.class);
        app.setDefaultProperties(Map.of("spring.main.banner-mode", "off", "logging.level.root", "WARN"));
        app.run(args);
    }

    @Bean
    DataSource db() {
        HikariConfig cfg = new HikariConfig();
        cfg.setJdbcUrl("jdbc:h2:mem:bakery;DB_CLOSE_DELAY=-1");
        cfg.setMaximumPoolSize(30);
        return new HikariDataSource(cfg);
    }
}

@RestController
class OrderController {
    private final OrderBook book;

    OrderController(OrderBook book) {
        this.book = book;
    }

    @PostMapping("/orders")
    Map<String, Object> order(@RequestBody Map<String, Integer> order) {
        long id = book.enter(order.get("customer"), order.get("loaves"));
        return Map.of("order", id, "today", book.loavesToday());
    }
}
