package org.yunti.web.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.velocity.CompilingResourceManager;

/** Tests of TemplateHandler on a running server. */
class TemplateHandlerTest {
  /** Model whose property throws. */
  public static final class Fault {
    public String getNow() {
      throw new IllegalStateException("a fault");
    }
  }

  @TempDir
  Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    Files.writeString(folder.resolve("hello.vm"), "<p>你好, $name</p>");
    Files.writeString(folder.resolve("empty.vm"), "");
    Files.writeString(folder.resolve("early.vm"), "<p>$fault.now</p>");
    Files.writeString(folder.resolve("late.vm"), "#foreach($i in [1..9000])<p>$i</p>#end$fault.now");
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    properties.setProperty("resource.loader.file.path", folder.toString());
    VelocityEngine engine = new VelocityEngine(properties);
    engine.init();
    PageRenderer pages = new PageRenderer(engine);

    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    for (String name : new String[] {"hello", "empty", "early", "late", "none"}) {
      TemplateHandler handler = new TemplateHandler(pages, name + ".vm",
          exchange -> new VelocityContext(new HashMap<>(Map.of("name", "Ann", "fault", new Fault()))));
      server.createContext("/" + name, handler);
      server.createContext("/streamed/" + name, handler.streaming());
    }
    server.createContext("/text", new TemplateHandler(pages, "hello.vm",
        e -> new VelocityContext()).contentType("text/plain; charset=UTF-8"));
    server.createContext("/away", new TemplateHandler(pages, "hello.vm", exchange -> {
      exchange.getResponseHeaders().set("Location", "/hello");
      exchange.sendResponseHeaders(303, -1);
      return null;
    }));
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  private HttpResponse<String> get(String method, String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    return client.send(HttpRequest.newBuilder(uri).method(method,
        HttpRequest.BodyPublishers.noBody()).timeout(Duration.ofSeconds(60)).build(),
        BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  @Test
  void sendsAPageWithItsLength() throws Exception {
    HttpResponse<String> response = get("GET", "/hello");
    assertEquals("<p>你好, Ann</p>", response.body());
    assertEquals("18", response.headers().firstValue("Content-Length").orElse("none"));
    assertEquals("text/html; charset=UTF-8", response.headers().firstValue("Content-Type").orElse("none"));
    assertEquals("text/plain; charset=UTF-8", get("GET", "/text").headers().firstValue("Content-Type").orElse("none"));
  }

  @Test
  void sendsAPageInChunks() throws Exception {
    HttpResponse<String> response = get("GET", "/streamed/hello");
    assertEquals("<p>你好, Ann</p>", response.body());
    assertTrue(response.headers().firstValue("Content-Length").isEmpty());
    assertEquals("chunked", response.headers().firstValue("Transfer-Encoding").orElse("none"));
  }

  @Test
  void answersHeadWithTheLengthAndNoBody() throws Exception {
    HttpResponse<String> response = get("HEAD", "/hello");
    assertEquals(200, response.statusCode());
    assertEquals("18", response.headers().firstValue("Content-Length").orElse("none"));
    assertEquals("", response.body());
    assertEquals("", get("HEAD", "/streamed/hello").body());
    assertEquals(500, get("HEAD", "/early").statusCode());
  }

  @Test
  void sendsAnEmptyPage() throws Exception {
    assertEquals(200, get("GET", "/empty").statusCode());
    assertEquals("", get("GET", "/empty").body());
    assertEquals(200, get("GET", "/streamed/empty").statusCode());
  }

  @Test
  void answers500ToAnErrorBeforeTheFirstByte() throws Exception {
    for (String path : new String[] {"/early", "/streamed/early", "/late", "/none", "/streamed/none"}) {
      HttpResponse<String> response = get("GET", path);
      assertEquals(500, response.statusCode(), path);
      assertEquals("500 Internal Server Error\n", response.body(), path);
      assertFalse(response.headers().firstValue("Content-Type").orElse("html").contains("html"), path);
    }
  }

  @Test
  void closesTheConnectionAfterALaterError() {
    assertThrows(IOException.class, () -> get("GET", "/streamed/late"));
  }

  @Test
  void letsTheModelAnswer() throws Exception {
    assertEquals(303, get("GET", "/away").statusCode());
  }
}
