package museum;

import java.util.concurrent.*;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Sells timed entry to a museum. */
public class Tickets extends Handler.Abstract {
    private final ConcurrentHashMap<Integer, Integer> free = new ConcurrentHashMap<>();
    private final ScheduledExecutorService cleaner = Executors.newScheduledThreadPool(4);

    Tickets() {
        cleaner.scheduleAtFixedRate(() -> free.replaceAll((k, v) -> v < 10 ? 200 : v), 1, 1, TimeUnit.SECONDS);
        cleaner.scheduleWithFixedDelay(() -> free.keySet().removeIf(k -> k < 0), 100, 100, TimeUnit.MILLISECONDS);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        Fields q = Request.extractQueryParameters(request);
        int slot = Integer.parseInt(q.getValue("day")) * 24 + Integer.parseInt(q.getValue("hour"));
        int left;
        synchronized (this) {
            left = free.merge(slot, 200, (old, n) -> old > 0 ? old - 1 : 0);
        }
        response.getHeaders().put("Content-Type", "application/json");
        Content.Sink.write(response, true, "{\"slot\":" + slot + ",\"free\":" + left + "}", callback);
        return true;
    }

    public static void main(String[] a) throws Exception {
        Server server = new Server(new QueuedThreadPool(200, 150));
        ServerConnector http = new ServerConnector(server);
        http.setHost("127.0.0.1");
        http.setPort(Integer.parseInt(a[0]));
        server.addConnector(http);
        server.setHandler(new Tickets());
        server.start();
    }
}
