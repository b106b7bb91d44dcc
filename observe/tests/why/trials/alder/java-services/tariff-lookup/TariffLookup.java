import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/** Rates calls: a virtual thread for each call record stream, tariffs from the tariff server. */
public class TariffLookup {
    static final class Line implements AutoCloseable {
        final Socket socket;
        final BufferedReader in;

        Line(int port) throws Exception {
            socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        }

        String ask(String prefix) throws Exception {
            socket.getOutputStream().write(("TARIFF " + prefix + "\n").getBytes());
            return in.readLine();
        }

        @Override public void close() throws Exception { socket.close(); }
    }

    static final ConcurrentLinkedQueue<Line> lines = new ConcurrentLinkedQueue<>();
    static final LongAdder rated = new LongAdder();
    static Semaphore bulkhead;
    static int port;

    static int tariff(String prefix) throws Exception {
        bulkhead.acquire();
        try {
            Line l = lines.poll();
            if (l == null) l = new Line(port);
            String s = l.ask(prefix);
            lines.add(l);
            return s.hashCode() & 0xff;
        } finally {
            bulkhead.release();
        }
    }

    static void stream(int id) {
        long cents = 0;
        try {
            for (int call = 0;; call++) {
                int seconds = (call * 37 + id) % 900;
                cents += (long) seconds * tariff("+49" + (call + id) % 1000) / 60;
                rated.increment();
            }
        } catch (Exception e) {
            System.err.println("stream " + id + " ended at " + cents + ": " + e);
        }
    }

    public static void main(String[] a) throws Exception {
        port = Integer.parseInt(a[0]);
        bulkhead = new Semaphore(Integer.parseInt(a[1]));
        try (var ex = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 300; i++) {
                int id = i;
                ex.submit(() -> stream(id));
            }
            while (true) {
                Thread.sleep(1000);
                System.out.println("done " + rated.sum());
            }
        }
    }
}
