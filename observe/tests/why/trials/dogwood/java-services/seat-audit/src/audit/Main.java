package audit;

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import redis.clients.jedis.*;

public class Main {
    public static void main(String[] a) throws Exception {
        JedisPoolConfig cfg = new JedisPoolConfig();
        cfg.setMaxTotal(16);
        cfg.setMaxIdle(16);
        JedisPool pool = new JedisPool(cfg, "127.0.0.1", Integer.parseInt(a[1]));
        HoldStore holds = a[2].equals("b") ? new IndexedHolds(pool) : new HoldStore(pool);
        holds.seed(2_000, 60);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 256);
        server.setExecutor(Executors.newFixedThreadPool(12));
        server.createContext("/holds/", ex -> answer(ex, holds));
        server.start();
    }

    static void answer(HttpExchange ex, HoldStore holds) throws IOException {
        int event = Integer.parseInt(ex.getRequestURI().getPath().substring(7)) % 2_000;
        byte[] body = holds.open(event).getBytes();
        ex.sendResponseHeaders(200, body.length);
        ex.getResponseBody().write(body);
        ex.close();
    }
}
