package audit;

import com.google.gson.Gson;
import java.util.*;
import redis.clients.jedis.*;

/** Seats held by customers who have not paid yet, one key a hold. */
class HoldStore {
    protected final JedisPool pool;
    private final Gson gson = new Gson();

    HoldStore(JedisPool pool) {
        this.pool = pool;
    }

    void seed(int events, int seats) {
        try (Jedis j = pool.getResource()) {
            for (int e = 0; e < events; e++) {
                Pipeline p = j.pipelined();
                for (int s = 0; s < seats; s++) put(p, e, s);
                p.sync();
            }
        }
    }

    protected void put(Pipeline p, int event, int seat) {
        p.setex("hold:" + event + ":" + seat, 86_400, "customer-" + (event * 31 + seat));
    }

    protected Collection<String> keys(Jedis j, int event) {
        return j.keys("hold:" + event + ":*");
    }

    String open(int event) {
        try (Jedis j = pool.getResource()) {
            Collection<String> keys = keys(j, event);
            List<String> owners = j.mget(keys.toArray(new String[0]));
            return gson.toJson(Map.of("event", event, "open", owners.size(), "owners", new TreeSet<>(owners)));
        }
    }
}

class IndexedHolds extends HoldStore {
    IndexedHolds(JedisPool pool) {
        super(pool);
    }

    @Override
    protected void put(Pipeline p, int event, int seat) {
        super.put(p, event, seat);
        p.sadd("holds:" + event, "hold:" + event + ":" + seat);
    }

    @Override
    protected Collection<String> keys(Jedis j, int event) {
        return j.smembers("holds:" + event);
    }
}
