package wine;

import io.lettuce.core.api.async.RedisAsyncCommands;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.CompletionStage;

class Cellar {
    private final RedisAsyncCommands<String, String> redis;

    Cellar(RedisAsyncCommands<String, String> redis) {
        this.redis = redis;
        for (int i = 0; i < 5_000; i++) redis.set("bottle:" + i, "Riesling " + (1980 + i % 40));
    }

    CompletionStage<JsonObject> taste(int id) {
        return redis.get("bottle:" + id).thenCombine(redis.incr("tastings:" + id),
            (label, n) -> new JsonObject().put("id", id).put("label", label).put("tastings", n));
    }
}
