package loyalty;

import com.fasterxml.jackson.databind.*;
import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executors;

public class Main {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] a) throws Exception {
        Rest rest = new Rest();
        TokenKeeper tokens = new TokenKeeper(rest, Integer.parseInt(a[1]), Duration.ofSeconds(Long.parseLong(a[3])));
        PointsClient points = new PointsClient(rest, Integer.parseInt(a[2]), tokens);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 256);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/points/", ex -> answer(ex, points));
        server.start();
    }

    static void answer(HttpExchange ex, PointsClient points) throws IOException {
        String path = ex.getRequestURI().getPath();
        byte[] body = JSON.writeValueAsBytes(points.balance(path.substring(path.lastIndexOf('/') + 1)));
        ex.sendResponseHeaders(200, body.length);
        ex.getResponseBody().write(body);
        ex.close();
    }
}
