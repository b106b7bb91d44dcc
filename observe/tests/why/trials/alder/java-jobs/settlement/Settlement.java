import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Settlement of transfers, desk by desk. */
public class Settlement {
    static final class Account {
        final int id;
        long cents = 1_000_000;
        final ReentrantLock lock = new ReentrantLock();

        Account(int id) { this.id = id; }
    }

    static final Account[] accounts = new Account[40];
    static final AtomicLong settled = new AtomicLong();
    static boolean byId;

    static void transfer(Account from, Account to, long cents) throws InterruptedException {
        Account first = byId && to.id < from.id ? to : from, second = first == from ? to : from;
        first.lock.lock();
        try {
            Thread.sleep(2); // journal entry
            second.lock.lock();
            try {
                from.cents -= cents;
                to.cents += cents;
            } finally {
                second.lock.unlock();
            }
        } finally {
            first.lock.unlock();
        }
    }

    /** a desk works on its own range of accounts */
    static void desk(int me, int base, int n, int port) {
        try (Socket s = new Socket("127.0.0.1", port)) {
            s.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()));
            for (long i = 0;; i++) {
                Account a = accounts[base + (int) ((me + i) % n)],
                    b = accounts[base + (int) ((me + i * 7 + 1 + i / 3) % n)];
                if (a == b) continue;
                if ((i + me) % 2 == 0) transfer(a, b, i % 100);
                else transfer(b, a, i % 90);
                s.getOutputStream().write(("CONFIRM " + i + "\n").getBytes());
                in.readLine();
                settled.incrementAndGet();
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    public static void main(String[] a) throws Exception {
        int port = Integer.parseInt(a[0]);
        byId = a[1].equals("by-id");
        for (int i = 0; i < accounts.length; i++) accounts[i] = new Account(i);
        for (int i = 0; i < 6; i++) {
            int me = i;
            new Thread(() -> desk(me, 0, 8, port), "interbank-" + i).start();
        }
        for (int i = 0; i < 2; i++) {
            int me = i;
            new Thread(() -> desk(0, 10 + 15 * me, 15, port), "retail-" + i).start();
        }
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + settled.get());
        }
    }
}
