package wine;

import io.lettuce.core.RedisClient;
import io.vertx.core.*;
import io.vertx.ext.web.*;

public class Main extends AbstractVerticle {
    private final int port;
    private final Cellar cellar;

    Main(int port, Cellar cellar) {
        this.port = port;
        this.cellar = cellar;
    }

    public static void main(String[] a) {
        RedisClient redis = RedisClient.create("redis://127.0.0.1:" + a[1]);
        Vertx.vertx().deployVerticle(new Main(Integer.parseInt(a[0]), new Cellar(redis.connect().async())));
    }

    @Override
    public void start(Promise<Void> started) {
        Router router = Router.router(vertx);
        router.get("/bottle/:id").handler(this::bottle);
        vertx.createHttpServer().requestHandler(router).listen(port)
            .onSuccess(s -> started.complete()).onFailure(started::fail);
    }

    private void bottle(RoutingContext ctx) {
        cellar.taste(Integer.parseInt(ctx.pathParam("id")) % 5_000)
            .whenComplete((b, e) -> context.runOnContext(v -> {
                if (e != null) ctx.fail(e);
                else ctx.json(b);
            }));
    }
}
