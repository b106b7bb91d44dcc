import com.sun.net.httpserver.HttpServer;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public class BookingApi {
    private static final Map<String, Integer> bookings = new LinkedHashMap<>();

    static synchronized int book(String who) {
        return bookings.merge(who, 1, Integer::sum);
    }

    static synchronized void forget() {
        bookings.values().removeIf(n -> n > 1000);
    }

    public static void main(String[] a) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 100);
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(200);
        pool.prestartAllCoreThreads();
        s.setExecutor(pool);
        s.createContext("/book", x -> {
            byte[] b = ("booked " + book(x.getRequestURI().getPath())).getBytes();
            x.sendResponseHeaders(200, b.length);
            try (OutputStream o = x.getResponseBody()) {
                o.write(b);
            }
        });
        Executors.newSingleThreadScheduledExecutor().scheduleAtFixedRate(BookingApi::forget, 1, 1, TimeUnit.SECONDS);
        s.start();
    }
}
