package transit;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.*;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Positions of the trams, with the name of the nearest place from the geocoder of the town. */
public class TramPositions extends AbstractVerticle {
    private final Map<String, double[]> last = new ConcurrentHashMap<>();
    private final ThreadLocal<Geocoder> geocoder;
    private final int port;
    private final boolean worker;

    TramPositions(int port, int geoPort, boolean worker) {
        this.port = port;
        this.worker = worker;
        this.geocoder = ThreadLocal.withInitial(() -> new Geocoder(geoPort));
    }

    /** Client of the geocoder's line protocol. */
    static final class Geocoder {
        private final BufferedReader in;
        private final Writer out;

        Geocoder(int port) {
            try {
                Socket s = new Socket("127.0.0.1", port);
                s.setTcpNoDelay(true);
                in = new BufferedReader(new InputStreamReader(s.getInputStream()));
                out = new OutputStreamWriter(s.getOutputStream());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        String nearest(double lat, double lon) {
            try {
                out.write("NEAR " + lat + " " + lon + "\n");
                out.flush();
                return in.readLine();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void start() {
        Router router = Router.router(vertx);
        router.get("/tram/:id").handler(this::position);
        vertx.createHttpServer().requestHandler(router).listen(port);
        vertx.setPeriodic(200, t -> last.replaceAll((k, v) -> new double[] {v[0] + 1e-5, v[1] + 2e-5}));
    }

    private void position(RoutingContext ctx) {
        String id = ctx.pathParam("id");
        double[] at = last.computeIfAbsent(id, k -> new double[] {52.5 + k.length() * 0.01, 13.4});
        if (worker) {
            vertx.executeBlocking(() -> describe(id, at), false).onSuccess(j -> ctx.json(j)).onFailure(ctx::fail);
        } else {
            ctx.json(describe(id, at));
        }
    }

    private JsonObject describe(String id, double[] at) {
        String place = geocoder.get().nearest(at[0], at[1]);
        return new JsonObject().put("id", id).put("lat", at[0]).put("lon", at[1]).put("near", place);
    }

    public static void main(String[] a) {
        Vertx.vertx().deployVerticle(
            new TramPositions(Integer.parseInt(a[0]), Integer.parseInt(a[1]), a[2].equals("worker")));
    }
}
