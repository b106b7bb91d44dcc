package portal;

import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Keeps the sessions of a customer portal in memory and serves them to its web servers. */
public class SessionStore extends Handler.Abstract {
    record Session(String user, long created, String[] basket) {}

    private final ConcurrentHashMap<Integer, Session> sessions = new ConcurrentHashMap<>(1 << 20);

    SessionStore() {
        for (int i = 0; i < 900_000; i++) {
            sessions.put(i, new Session("user" + i, i, new String[] {"sku" + i % 1000, null}));
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String path = request.getHttpURI().getPath();
        int id = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        Session s = sessions.compute(id, (k, old) -> new Session(old.user, System.nanoTime(), old.basket));
        response.getHeaders().put("Content-Type", "application/json");
        Content.Sink.write(response, true,
            "{\"user\":\"" + s.user + "\",\"basket\":\"" + s.basket[0] + "\"}", callback);
        return true;
    }

    public static void main(String[] a) throws Exception {
        Server server = new Server(new QueuedThreadPool(24, 8));
        ServerConnector http = new ServerConnector(server);
        http.setHost("127.0.0.1");
        http.setPort(Integer.parseInt(a[0]));
        server.addConnector(http);
        server.setHandler(new SessionStore());
        server.start();
    }
}
