import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;

/** Pings devices and tells over HTTP when each was last seen. */
public class Hub {
    static final class Device {
        private final ReentrantLock lock = new ReentrantLock();
        private final int id;
        private long seen;
        private int pings;

        Device(int id) {
            this.id = id;
        }

        void run() {
            try {
                while (true) {
                    Thread.sleep(4000 + ThreadLocalRandom.current().nextInt(4000));
                    ping();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void ping() {
            lock.lock();
            try {
                seen = System.currentTimeMillis();
                pings++;
            } finally {
                lock.unlock();
            }
        }

        String describe() {
            lock.lock();
            try {
                return "{\"device\":" + id + ",\"seen\":" + seen + ",\"pings\":" + pings + "}";
            } finally {
                lock.unlock();
            }
        }
    }

    static void answer(HttpExchange x, List<Device> devices) throws IOException {
        String q = x.getRequestURI().getQuery();
        byte[] body = devices.get(Integer.parseInt(q.substring(3))).describe().getBytes(StandardCharsets.UTF_8);
        x.getResponseHeaders().set("Content-Type", "application/json");
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    public static void main(String[] a) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        List<Device> devices = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            Device d = new Device(i);
            devices.add(d);
            Thread.ofVirtual().name("device-" + i).start(d::run);
        }
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(a[0]));
        HttpServer server = HttpServer.create(address, 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/device", x -> answer(x, devices));
        server.start();
        System.out.println("ready");
    }
}
