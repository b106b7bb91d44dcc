package energy;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Serves electricity tariffs; the master data system has the tables. */
public class TariffCache extends Handler.Abstract {
    private final LoadingCache<String, byte[]> tables;
    private final int masterPort;

    TariffCache(int masterPort, long maximum) {
        this.masterPort = masterPort;
        tables = Caffeine.newBuilder()
            .maximumWeight(maximum)
            .weigher((String name, byte[] table) -> table.length)
            .expireAfterWrite(Duration.ofMinutes(10))
            .executor(Runnable::run)
            .build(this::load);
    }

    private byte[] load(String name) throws Exception {
        HttpURLConnection c = (HttpURLConnection)
            URI.create("http://127.0.0.1:" + masterPort + "/tables/" + name).toURL().openConnection();
        try (InputStream in = c.getInputStream()) {
            return in.readAllBytes();
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String[] path = request.getHttpURI().getPath().split("/");
        byte[] table = tables.get(path[2]);
        int zone = Integer.parseInt(path[3]), row = 0;
        for (byte b : table) {
            if (b == '{' && row++ == zone) {
                break;
            }
        }
        Content.Sink.write(response, true, "{\"tariff\":\"" + path[2] + "\",\"row\":" + row + "}", callback);
        return true;
    }

    public static void main(String[] a) throws Exception {
        Server server = new Server(new QueuedThreadPool(40, 20));
        ServerConnector http = new ServerConnector(server);
        http.setHost("127.0.0.1");
        http.setPort(Integer.parseInt(a[0]));
        server.addConnector(http);
        server.setHandler(new TariffCache(Integer.parseInt(a[1]), Long.parseLong(a[2])));
        server.start();
    }
}
