package lift;

import io.vertx.core.*;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import java.util.HashMap;
import java.util.Map;

/** State of the lifts of office buildings. */
public class LiftStatus extends AbstractVerticle {
    private final Map<String, Integer> floor = new HashMap<>();
    private final int port;

    LiftStatus(int port) {
        this.port = port;
    }

    @Override
    public void start() {
        vertx.setPeriodic(50, t -> floor.replaceAll((k, v) -> (v + 1) % 30));
        vertx.setPeriodic(1000, t -> vertx.executeBlocking(() -> String.join(",", floor.keySet()).length()));
        Router router = Router.router(vertx);
        router.get("/lift/:id").handler(ctx -> {
            String id = ctx.pathParam("id");
            int at = floor.merge(id, 0, (old, x) -> old);
            ctx.json(new JsonObject().put("lift", id).put("floor", at));
        });
        vertx.createHttpServer().requestHandler(router).listen(port);
    }

    public static void main(String[] a) {
        Vertx.vertx().deployVerticle(() -> new LiftStatus(Integer.parseInt(a[0])),
            new DeploymentOptions().setInstances(2));
    }
}
