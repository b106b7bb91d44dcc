package org.yunti.web.example;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.yunti.web.http.TemplateHandler;
import org.yunti.web.page.PageRenderer;

/**
 * Server of a shop's search page, on the JDK's HTTP server: {@code /stock} by stock Velocity, {@code /compiled}
 * compiled, with the same bytes.
 */
public final class Shop implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(8);

  /**
   * Starts the server on 127.0.0.1.
   *
   * @param port port; 0: any free one
   */
  public Shop(int port) throws IOException {
    VelocityEngine stock = engine(false);
    PageRenderer compiled = new PageRenderer(engine(true));
    SearchPage page = new SearchPage(new Catalog(2_000));
    server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0);
    server.setExecutor(threads);
    server.createContext("/", new TemplateHandler(compiled, "start.vm", exchange -> {
      if (!exchange.getRequestURI().getPath().equals("/")) {
        exchange.sendResponseHeaders(404, -1);
        return null;
      }
      return measured(stock, compiled, page);
    }));
    server.createContext("/stock", new StockHandler(stock, page));
    server.createContext("/compiled", new TemplateHandler(compiled, SearchPage.TEMPLATE, page));
    server.start();
  }

  /** Returns an engine; the resource manager is the only difference between the two. */
  private static VelocityEngine engine(boolean compiles) {
    Properties properties = new Properties();
    properties.setProperty("resource.loaders", "class");
    properties.setProperty("resource.loader.class.class",
        "org.apache.velocity.runtime.resource.loader.ClasspathResourceLoader");
    properties.setProperty("resource.loader.class.cache", "true");
    properties.setProperty("velocimacro.library.path", "");
    properties.setProperty("runtime.log.log_invalid_references", "false");
    if (compiles) {
      properties.setProperty("resource.manager.class", "org.yunti.web.velocity.CompilingResourceManager");
    }
    VelocityEngine engine = new VelocityEngine(properties);
    engine.init();
    return engine;
  }

  /** Measures both engines. It is synchronized, so two requests do not disturb each other. */
  private static synchronized VelocityContext measured(VelocityEngine stock, PageRenderer compiled, SearchPage page)
      throws IOException {
    Map<String, String> query = Map.of("q", "");
    List<Integer> cart = List.of(3, 14, 15);
    int[] bytes = new int[1];
    double stockMicros = CpuTime.micros(() -> bytes[0] = StockHandler.render(stock, page.model(query, cart)).length);
    double compiledMicros = CpuTime.micros(() -> compiled.whole(SearchPage.TEMPLATE, page.model(query, cart),
        made -> bytes[0] = made.size()));
    double modelMicros = CpuTime.micros(() -> page.model(query, cart));
    Map<String, Object> model = new HashMap<>();
    model.put("bytes", bytes[0]);
    model.put("stock", Math.round(stockMicros - modelMicros));
    model.put("compiled", Math.round(compiledMicros - modelMicros));
    model.put("ratio", Math.round(10 * (stockMicros - modelMicros) / (compiledMicros - modelMicros)) / 10.0);
    model.put("java", System.getProperty("java.vm.version"));
    return new VelocityContext(model);
  }

  /** Returns the port of the server. */
  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
