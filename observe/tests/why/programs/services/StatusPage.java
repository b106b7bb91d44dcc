import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** A status page over HTTP that a probe requests now and then. StatusPage SECONDS */
public final class StatusPage {
  private static final long PROBE_INTERVAL_MS = 40;
  private final LongAdder served = new LongAdder();

  private void answer(HttpExchange exchange) throws IOException {
    long upMillis = ManagementFactory.getRuntimeMXBean().getUptime();
    byte[] page = ("{\"status\": \"up\", \"uptime_ms\": " + upMillis + ", \"served\": " + served.sum() + "}")
        .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, page.length);
    try (OutputStream body = exchange.getResponseBody()) {
      body.write(page);
    }
    served.increment();
  }

  private static void probe(HttpClient client, HttpRequest request) {
    try {
      client.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      System.err.println("probe: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    StatusPage page = new StatusPage();
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    server.createContext("/status", page::answer);
    server.setExecutor(Executors.newFixedThreadPool(16));
    server.start();
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/status");
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    HttpRequest request = HttpRequest.newBuilder(uri).build();
    ScheduledExecutorService probe
        = Executors.newSingleThreadScheduledExecutor(work -> new Thread(work, "health-probe"));
    probe.scheduleAtFixedRate(() -> probe(client, request), 0, PROBE_INTERVAL_MS, TimeUnit.MILLISECONDS);
    Thread.sleep(2000);
    System.out.println("ready");
    long before = page.served.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", page.served.sum() - before, seconds);
    System.exit(0);
  }
}
