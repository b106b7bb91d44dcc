package spice;

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import okhttp3.*;

public class Main {
    public static void main(String[] a) throws Exception {
        OkHttpClient http = new OkHttpClient.Builder()
            .dns(new ClusterDns(Integer.parseInt(a[1]), Integer.parseInt(a[3])))
            .connectionPool(new ConnectionPool(0, 1, TimeUnit.MILLISECONDS))
            .build();
        StockClient stock = new StockClient(http, Integer.parseInt(a[2]));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 256);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/stock/", ex -> relay(ex, stock));
        server.start();
    }

    static void relay(HttpExchange ex, StockClient stock) throws IOException {
        byte[] body = stock.lookup(ex.getRequestURI().getPath().substring(7));
        ex.sendResponseHeaders(200, body.length);
        ex.getResponseBody().write(body);
        ex.close();
    }
}
