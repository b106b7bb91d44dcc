import java.util.HashMap;
import java.util.Map;

/** Keeps each ticket, and makes far more garbage than that unless it has an argument. */
public class Growth {
    static final Map<Integer, Ticket> OPEN = new HashMap<>();
    static long handled;

    static class Ticket {
        final String subject;
        final byte[] body = new byte[200];

        Ticket(int n) {
            subject = "ticket " + n;
        }
    }

    static void open(int n) {
        OPEN.put(n, new Ticket(n));
    }

    static void churn() {
        for (int i = 0; i < 2000; i++) {
            byte[] page = new byte[1024];
            page[i % 1024] = 1;
            handled += page.length;
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        for (int n = 0; n < 2_000_000; n++) {
            open(n);
            if (n % 20 == 0) {
                if (args.length == 0) {
                    churn();
                }
                Thread.sleep(1);
            }
        }
    }
}
