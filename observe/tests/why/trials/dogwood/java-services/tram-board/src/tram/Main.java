package tram;

import io.vertx.core.*;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.*;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

public class Main extends AbstractVerticle {
    private final int port;
    private final DepartureFeed feed;
    private final boolean offload;
    private final AtomicLong served = new AtomicLong();

    Main(int port, DepartureFeed feed, boolean offload) {
        this.port = port;
        this.feed = feed;
        this.offload = offload;
    }

    public static void main(String[] a) {
        Main m = new Main(Integer.parseInt(a[0]), new DepartureFeed(Integer.parseInt(a[1])), a[2].equals("b"));
        Vertx.vertx().deployVerticle(m);
    }

    @Override
    public void start(Promise<Void> started) {
        Router router = Router.router(vertx);
        router.get("/stop/:id").handler(this::board);
        router.get("/health").handler(c -> c.end("up"));
        vertx.createHttpServer().requestHandler(router).listen(port)
            .onSuccess(s -> started.complete()).onFailure(started::fail);
    }

    private void board(RoutingContext ctx) {
        String stop = ctx.pathParam("id");
        if (offload) {
            vertx.<JsonObject>executeBlocking(() -> departures(stop), false)
                .onSuccess(ctx::json).onFailure(ctx::fail);
        } else {
            try {
                ctx.json(departures(stop));
            } catch (IOException e) {
                ctx.fail(e);
            }
        }
    }

    private JsonObject departures(String stop) throws IOException {
        JsonObject board = new JsonObject(feed.fetch(stop));
        return board.put("stop", stop).put("serial", served.incrementAndGet());
    }
}
