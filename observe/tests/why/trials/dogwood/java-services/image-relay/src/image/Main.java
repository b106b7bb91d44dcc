package image;

import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import java.io.IOException;
import java.nio.file.Path;

public class Main {
    public static void main(String[] a) throws Exception {
        Catalog catalog = new Catalog(Path.of(a[1]), 20);
        Previews previews = new Previews(catalog, a[2].equals("b") ? Buffers.perThread() : Buffers.perCall());
        Undertow.builder().addHttpListener(Integer.parseInt(a[0]), "127.0.0.1").setWorkerThreads(12)
            .setHandler(new BlockingHandler(ex -> serve(ex, previews))).build().start();
    }

    static void serve(HttpServerExchange ex, Previews previews) throws IOException {
        String path = ex.getRequestPath();
        byte[] preview = previews.of(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)));
        ex.getOutputStream().write(preview);
    }
}
