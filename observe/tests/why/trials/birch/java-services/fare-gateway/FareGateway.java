package travel;

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Asks the carrier's reservation system for fares on behalf of the web shop. */
public class FareGateway extends Handler.Abstract {
    /** A request to a partner. */
    interface Question<T> {
        T ask() throws Exception;
    }

    /** Protects the gateway from a partner in trouble. */
    static final class Bulkhead {
        private final Semaphore permits;

        Bulkhead(int n) {
            permits = new Semaphore(n);
        }

        <T> T call(Question<T> c) throws Exception {
            if (!permits.tryAcquire(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("bulkhead full");
            }
            try {
                return c.ask();
            } finally {
                permits.release();
            }
        }
    }

    private final Bulkhead carrierBulkhead;
    private final int carrierPort;

    FareGateway(int carrierPort, int limit) {
        this.carrierPort = carrierPort;
        this.carrierBulkhead = new Bulkhead(limit);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        String query = request.getHttpURI().getQuery();
        byte[] fare = carrierBulkhead.call(() -> askCarrier(query));
        response.getHeaders().put("Content-Type", "application/json");
        Content.Sink.write(response, true, new String(fare, StandardCharsets.UTF_8), callback);
        return true;
    }

    private byte[] askCarrier(String query) throws Exception {
        HttpURLConnection c = (HttpURLConnection)
            URI.create("http://127.0.0.1:" + carrierPort + "/avail?" + query).toURL().openConnection();
        c.setReadTimeout(5000);
        try (InputStream in = c.getInputStream()) {
            return in.readAllBytes();
        }
    }

    public static void main(String[] a) throws Exception {
        System.setProperty("http.maxConnections", "64");
        Server server = new Server(new QueuedThreadPool(60, 40));
        ServerConnector http = new ServerConnector(server);
        http.setHost("127.0.0.1");
        http.setPort(Integer.parseInt(a[0]));
        server.addConnector(http);
        server.setHandler(new FareGateway(Integer.parseInt(a[1]), Integer.parseInt(a[2])));
        server.start();
    }
}
