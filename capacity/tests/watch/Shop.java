import com.sun.net.httpserver.HttpServer;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * A shop whose requests cost known processor time: java Shop PORT STEPS EXTRA. A request ranks goods, prices them and
 * renders a page, each with STEPS steps; the price has EXTRA percent of all three on top.
 */
public class Shop {
  static volatile long sink;
  static int steps;
  static int extra;

  static long spin(long from, int count) {
    long x = from | 1;
    for (int i = 0; i < count; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  static long rank() {
    long x = 7;
    for (int i = 0; i < steps; i++) {
      x += spin(x, 1000);
    }
    return x;
  }

  static long price() {
    long x = 11;
    for (int i = 0; i < steps + 3 * steps * extra / 100; i++) {
      x ^= spin(x + i, 1000);
    }
    return x;
  }

  static String render() {
    List<String> parts = new ArrayList<>();
    long x = 13;
    for (int i = 0; i < steps; i++) {
      x -= spin(x, 1000);
      if (i % 8 == 0) {
        parts.add(Long.toHexString(x));
      }
    }
    return String.join(" ", parts);
  }

  public static void main(String[] arguments) throws Exception {
    steps = Integer.parseInt(arguments[1]);
    extra = Integer.parseInt(arguments[2]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 64);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext("/", exchange -> {
      sink += rank() + price();
      byte[] page = render().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, page.length);
      exchange.getResponseBody().write(page);
      exchange.close();
    });
    server.start();
  }
}
