package bank;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;

class Ledger {
    private final ObjectMapper json = new ObjectMapper();
    private final AtomicLongArray balances;
    private final Journal journal;

    Ledger(Journal journal, int accounts) {
        this.journal = journal;
        this.balances = new AtomicLongArray(accounts);
    }

    void transfer(int from, int to, long cents) {
        try {
            byte[] line = json.writeValueAsBytes(Map.of("from", from, "to", to, "cents", cents));
            journal.append(line).join();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
        balances.addAndGet(from, -cents);
        balances.addAndGet(to, cents);
    }
}
