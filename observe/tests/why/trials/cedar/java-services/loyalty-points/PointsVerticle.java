import io.vertx.core.AbstractVerticle;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/** GET /points/ID: the partner's balance, with the bonus of the season. */
public class PointsVerticle extends AbstractVerticle {
    private final int port;
    private final Partner partner;
    private final boolean direct;
    private final ArrayDeque<Long> lastMinute = new ArrayDeque<>();

    PointsVerticle(int port, Partner partner, boolean direct) {
        this.port = port;
        this.partner = partner;
        this.direct = direct;
    }

    @Override
    public void start(Promise<Void> started) {
        vertx.setPeriodic(1000, t -> {
            long old = System.currentTimeMillis() - 60_000;
            while (!lastMinute.isEmpty() && lastMinute.peek() < old) {
                lastMinute.poll();
            }
        });
        vertx.createHttpServer().requestHandler(this::handle).listen(port, "127.0.0.1")
            .onSuccess(s -> started.complete()).onFailure(started::fail);
    }

    private void handle(HttpServerRequest req) {
        lastMinute.add(System.currentTimeMillis());
        String customer = req.path().substring(req.path().lastIndexOf('/') + 1);
        if (direct) {
            answer(req, customer, partner.balance(customer));
        } else {
            vertx.<Integer>executeBlocking(() -> partner.balance(customer), false)
                .onSuccess(b -> answer(req, customer, b)).onFailure(e -> req.response().setStatusCode(502).end());
        }
    }

    private void answer(HttpServerRequest req, String customer, int balance) {
        int bonus = balance / 20 + customer.length();
        req.response().putHeader("content-type", "application/json")
            .end("{\"customer\":\"" + customer + "\",\"points\":" + (balance + bonus) + "}");
    }

    public static void main(String[] a) {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(2)
            .setBlockedThreadCheckInterval(1).setBlockedThreadCheckIntervalUnit(TimeUnit.SECONDS));
        vertx.deployVerticle(new PointsVerticle(Integer.parseInt(a[0]), new Partner(Integer.parseInt(a[1])),
            a[2].equals("direct"))).onSuccess(id -> System.out.println("ready"))
            .onFailure(e -> { e.printStackTrace(); System.exit(1); });
    }
}
