package org.yunti.web.shrink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.web.delivery.AsyncBlock;
import org.yunti.web.delivery.AsyncFragments;
import org.yunti.web.delivery.AsyncPage;
import org.yunti.web.delivery.ClientValue;
import org.yunti.web.velocity.CompilingResourceManager;
import org.yunti.web.velocity.output.ByteWriter;

/** Tests of the pages' scripts in a browser: the final document equals a page without scripts. */
class BrowserTest {
  private static final List<String> BROWSERS = List.of("chromium", "chromium-browser", "google-chrome");
  private static final int SECONDS_MAX = 60;
  private static final String ROWS = """
      <ul>
      ## yunti:client-loop nonce=$nonce
      #foreach($p in $goods)
      <li title="$p.name">$p.name: <b>$p.price</b></li>
      #end
      </ul>
      """;
  private static final String BLOCKS = """
      <main>#async()<p id="slow">$slow.text</p>#end<hr>#async()<p id="soon">soon</p>#end<hr>#async()$slow.fault#end</main>
      """;

  /** Product of the page. */
  public static final class Good {
    private final String name;
    private final String price;

    Good(String name, String price) {
      this.name = name;
      this.price = price;
    }

    public String getName() {
      return name;
    }

    public String getPrice() {
      return price;
    }
  }

  /** Slow model of the page. */
  public static final class Slow {
    public String getText() throws InterruptedException {
      Thread.sleep(300);
      return "late &lt;/template&gt; \u4e91";
    }

    public String getFault() {
      throw new IllegalStateException("a fault");
    }
  }

  @TempDir
  Path profile;
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final AsyncFragments fragments = new AsyncFragments("/fragments/", 100);
  private final AsyncPage.Settings defaults = new AsyncPage.Settings("<i>wait</i>",
      "<i class=\"error\">sorry, \"\u4e91\"</i>", 10_000);
  private HttpServer server;
  private VelocityEngine engine;

  @BeforeEach
  void start() throws IOException {
    Properties properties = new Properties();
    properties.setProperty("resource.loaders", "string");
    properties.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    properties.setProperty("resource.loader.string.repository.static", "false");
    properties.setProperty("resource.loader.string.repository.name", "templates");
    properties.setProperty("runtime.custom_directives", AsyncBlock.class.getName() + "," + ClientValue.class.getName());
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    engine = new VelocityEngine(properties);
    engine.init();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(executor);
    server.createContext("/rows", exchange -> page(exchange, shrunk(ROWS), null));
    server.createContext("/behind", exchange -> page(exchange, BLOCKS, null));
    server.createContext("/fetched", exchange -> page(exchange, BLOCKS, fragments));
    server.createContext("/gone", exchange -> page(exchange, "#async()never#end", new AsyncFragments("/nowhere/", 1)));
    server.createContext("/fragments/", exchange -> {
      byte[] block = fragments.take(exchange.getRequestURI().getPath()).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "text/html; charset=UTF-8");
      exchange.sendResponseHeaders(200, block.length);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(block);
      }
    });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
    executor.shutdownNow();
  }

  private static String shrunk(String template) {
    return new Shrinker(ShrinkOptions.none().clientLoops(true)).shrink(Map.of("page.vm", template)).get(0).after();
  }

  /** Serves a template; its policy allows only scripts with the nonce. */
  private void page(HttpExchange exchange, String template, AsyncFragments from) throws IOException {
    StringResourceRepository templates = (StringResourceRepository) engine.getApplicationAttribute("templates");
    templates.putStringResource(exchange.getRequestURI().getPath(), "<!DOCTYPE html><title>t</title>" + template);
    exchange.getResponseHeaders().set("Content-Type", "text/html; charset=UTF-8");
    exchange.getResponseHeaders().set("Content-Security-Policy", "script-src 'nonce-abc'");
    exchange.sendResponseHeaders(200, 0);
    VelocityContext context = new VelocityContext(new HashMap<>(Map.of("slow", new Slow(), "nonce", "abc", "goods",
        List.of(new Good("&quot;\\ &lt;/script&gt;", "1.50"), new Good("\u4e91\u68af \ud83d\ude00", "2")))));
    try (ByteWriter out = ByteWriter.to(exchange.getResponseBody(), StandardCharsets.UTF_8)) {
      new AsyncPage(executor, defaults, "abc", from).render(engine.getTemplate(exchange.getRequestURI().getPath()),
          context, out);
    }
  }

  /** Returns the document after the browser ran all scripts. */
  private Document seen(String path) throws IOException, InterruptedException {
    String browser = BROWSERS.stream()
        .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> folder + File.separator + name))
        .filter(file -> new File(file).canExecute()).findFirst().orElse(null);
    assumeTrue(browser != null, "no browser is installed: " + BROWSERS);
    File dump = profile.resolve("page.html").toFile();
    Process run = new ProcessBuilder(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--user-data-dir=" + profile.resolve("profile"), "--virtual-time-budget=8000", "--dump-dom", "http://127.0.0.1:"
        + server.getAddress().getPort() + path)
        .redirectError(ProcessBuilder.Redirect.DISCARD).redirectOutput(dump).start();
    boolean ended = run.waitFor(SECONDS_MAX, TimeUnit.SECONDS);
    run.descendants().forEach(ProcessHandle::destroyForcibly);
    run.destroyForcibly();
    assertTrue(ended, "the browser does not exit");
    return Jsoup.parse(dump, "UTF-8");
  }

  @Test
  void assemblesRows() throws IOException, InterruptedException {
    Document page = seen("/rows");
    assertEquals(List.of("\"\\ </script>: 1.50", "\u4e91\u68af \ud83d\ude00: 2"), page.select("li").eachText());
    assertEquals(0, page.select("script").size());
  }

  @Test
  void movesBlocksToTheirPlaces() throws IOException, InterruptedException {
    assertEquals("late </template> \u4e91", blocks("/behind"));
  }

  @Test
  void fetchesBlocks() throws IOException, InterruptedException {
    assertEquals("late </template> \u4e91", blocks("/fetched"));
  }

  private String blocks(String path) throws IOException, InterruptedException {
    Document page = seen(path);
    assertEquals(List.of("p", "hr", "p", "hr", "i"), page.select("main").first().children().stream()
        .map(Element::tagName).toList());
    assertEquals("soon", page.select("#soon").text());
    assertEquals("sorry, \"\u4e91\"", page.select(".error").text());
    assertEquals(0, page.select("script, template").size());
    return page.select("#slow").text();
  }

  @Test
  void showsTheErrorOfABlockThatCannotBeFetched() throws IOException, InterruptedException {
    Document page = seen("/gone");
    assertEquals("sorry, \"\u4e91\"", page.select(".error").text());
  }
}
