package clinic;

import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Visits of patients in the rooms of a clinic. */
@SpringBootApplication
@EnableScheduling
public class Calendar {
    public static void main(String[] args) {
        SpringApplication.run(Calendar.class, args);
    }

    @RestController
    public static class Visits {
        private final JdbcTemplate jdbc;
        private volatile long count;

        public Visits(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Scheduled(fixedDelay = 500)
        public void refresh() {
            count = jdbc.queryForObject("select count(*) from visit", Long.class);
        }

        @GetMapping("/visits")
        public Map<String, Object> visits(int room) {
            List<Map<String, Object>> v = jdbc.queryForList(
                "select id, patient from visit where room = ? order by id desc limit 5", room);
            return Map.of("visits", v, "all", count);
        }
    }
}
