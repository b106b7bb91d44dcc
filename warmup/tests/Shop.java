import com.sun.net.httpserver.HttpServer;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Service of the tests: `Shop PORT [HOST | hang]`. Each answer of /page is the number of answers so far, so that a
 * client sees how many came before it. /exit?N ends the program with N, /missing is 404; with `hang` no answer comes.
 */
public class Shop {
    public static void main(String[] arguments) throws Exception {
        System.out.println("out of the shop");
        System.err.println("err of the shop");
        boolean hangs = arguments.length > 1 && arguments[1].equals("hang");
        AtomicInteger answers = new AtomicInteger();
        InetAddress host = arguments.length > 1 && !hangs ? InetAddress.getByName(arguments[1]) : null;
        HttpServer server = HttpServer.create(new InetSocketAddress(host, Integer.parseInt(arguments[0])), 50);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            if (hangs) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    return;
                }
            }
            if (path.equals("/exit")) {
                System.exit(Integer.parseInt(exchange.getRequestURI().getQuery()));
            }
            byte[] body = (answers.incrementAndGet() + "\n").getBytes();
            exchange.sendResponseHeaders(path.equals("/missing") ? 404 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
