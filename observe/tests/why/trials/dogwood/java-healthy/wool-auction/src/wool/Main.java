package wool;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
import java.io.IOException;

public class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] a) {
        Catalogue catalogue = new Catalogue(3_000);
        Undertow.builder().addHttpListener(Integer.parseInt(a[0]), "127.0.0.1").setWorkerThreads(16)
            .setHandler(new BlockingHandler(ex -> page(ex, catalogue))).build().start();
    }

    static void page(HttpServerExchange ex, Catalogue catalogue) throws IOException {
        String path = ex.getRequestPath();
        int from = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        ex.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        ex.getOutputStream().write(JSON.writeValueAsBytes(catalogue.page(from, 120)));
    }
}
