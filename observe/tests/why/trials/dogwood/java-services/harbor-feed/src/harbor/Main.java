package harbor;

import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.slf4j.*;

public class Main {
    private static final Logger log = LoggerFactory.getLogger(Main.class);
    private final BerthPlanner planner = new BerthPlanner();

    public static void main(String[] a) {
        Main m = new Main();
        Undertow.builder().addHttpListener(Integer.parseInt(a[0]), "127.0.0.1").setWorkerThreads(16)
            .setHandler(new BlockingHandler(m::position)).build().start();
    }

    private void position(HttpServerExchange ex) throws IOException {
        String body = new String(ex.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        log.debug("position report received path={} headers={} body={}",
            ex.getRequestPath(), ex.getRequestHeaders(), body);
        int berth = planner.assign(ex.getRequestPath(), body);
        ex.getOutputStream().write(("{\"berth\":" + berth + "}").getBytes(StandardCharsets.UTF_8));
    }
}
