package billing;

import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Writes invoices with numbers and archives them. */
@SpringBootApplication
public class InvoiceDesk {
    public static void main(String[] args) {
        SpringApplication.run(InvoiceDesk.class, args);
    }

    @Service
    public static class Invoices {
        private final JdbcTemplate jdbc;
        private final boolean sequence;

        public Invoices(JdbcTemplate jdbc, @Value("${numbering}") String numbering) {
            this.jdbc = jdbc;
            this.sequence = numbering.equals("sequence");
        }

        private long nextNumber(String branch) {
            if (sequence) {
                return jdbc.queryForObject("select nextval('invoice_no')", Long.class);
            }
            return jdbc.queryForObject("update numbering set last = last + 1 where branch = ? returning last",
                Long.class, branch);
        }

        @Transactional
        public long issue(String branch, String customer, long cents) {
            long no = nextNumber(branch);
            jdbc.update("insert into invoice(no, branch, customer, cents) values (?, ?, ?, ?)",
                no, branch, customer, cents);
            jdbc.queryForList("select render_and_archive()");
            return no;
        }
    }

    @RestController
    public static class Desk {
        private final Invoices invoices;

        public Desk(Invoices invoices) {
            this.invoices = invoices;
        }

        @GetMapping("/invoice")
        public Map<String, Object> issue(String branch, String customer, long cents) {
            return Map.of("number", invoices.issue(branch, customer, cents), "customer", customer);
        }
    }
}
