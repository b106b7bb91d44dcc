package org.yunti.web.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
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
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.velocity.CompilingResourceManager;

/** Tests of TemplateServlet in Tomcat 10.1, Servlet 6.0. */
class TemplateServletTest {
  /** Model whose property throws. */
  public static final class Fault {
    public String getNow() {
      throw new IllegalStateException("a fault");
    }
  }

  /** Servlet of an application. */
  private static final class Hello extends TemplateServlet {
    private static final long serialVersionUID = 1;

    Hello(PageRenderer pages, String template) {
      super(pages, template);
    }

    @Override
    protected VelocityContext model(HttpServletRequest request, HttpServletResponse response) throws IOException {
      if (request.getParameter("away") != null) {
        response.sendRedirect("/hello");
        return null;
      }
      return new VelocityContext(new HashMap<>(Map.of("name", request.getParameter("name"), "fault", new Fault())));
    }
  }

  /** Reference that keeps the logger's level: the JDK forgets the level of an unreferenced logger. */
  private static final Logger TOMCAT_LOG = Logger.getLogger("org.apache");

  @TempDir
  Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Tomcat tomcat = new Tomcat();

  @BeforeEach
  void start() throws IOException, LifecycleException {
    TOMCAT_LOG.setLevel(Level.OFF);
    Files.writeString(folder.resolve("hello.vm"), "<p>你好, $name</p>");
    Files.writeString(folder.resolve("fault.vm"), "<p>half a page</p>$fault.now");
    Files.writeString(folder.resolve("large.vm"), "#foreach($i in [1..9000])<p>$i $name</p>#end");
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    properties.setProperty("resource.loader.file.path", folder.toString());
    VelocityEngine engine = new VelocityEngine(properties);
    engine.init();
    PageRenderer pages = new PageRenderer(engine);

    tomcat.setBaseDir(folder.resolve("tomcat").toString());
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context context = tomcat.addContext("", null);
    add(context, "/hello", new Hello(pages, "hello.vm"));
    add(context, "/fault", new Hello(pages, "fault.vm"));
    add(context, "/large", new Hello(pages, "large.vm"));
    add(context, "/streamed", new HttpServlet() {
      private static final long serialVersionUID = 1;

      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        new ServletPages(pages)
            .stream(request, response, "large.vm", new VelocityContext(new HashMap<>(Map.of("name", "茶"))));
      }
    });
    tomcat.start();
  }

  private static void add(Context context, String path, HttpServlet servlet) {
    Tomcat.addServlet(context, path, servlet);
    context.addServletMappingDecoded(path, path);
  }

  @AfterEach
  void stop() throws LifecycleException {
    tomcat.stop();
    tomcat.destroy();
  }

  private HttpResponse<String> get(String method, String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path);
    return client.send(HttpRequest.newBuilder(uri).method(method,
        HttpRequest.BodyPublishers.noBody()).timeout(Duration.ofSeconds(60)).build(),
        BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  @Test
  void sendsAPageWithItsLength() throws Exception {
    HttpResponse<String> response = get("GET", "/hello?name=Ann");
    assertEquals("<p>你好, Ann</p>", response.body());
    assertEquals("18", response.headers().firstValue("Content-Length").orElse("none"));
    assertEquals("text/html;charset=UTF-8", response.headers().firstValue("Content-Type").orElse("none"));
  }

  @Test
  void answersHeadWithTheLengthAndNoBody() throws Exception {
    HttpResponse<String> response = get("HEAD", "/hello?name=Ann");
    assertEquals("18", response.headers().firstValue("Content-Length").orElse("none"));
    assertEquals("", response.body());
  }

  @Test
  void showsTheContainersPageAfterAnError() throws Exception {
    HttpResponse<String> response = get("GET", "/fault?name=Ann");
    assertEquals(500, response.statusCode());
    assertFalse(response.body().contains("half a page"));
  }

  @Test
  void sendsTheSameLargePageStreamed() throws Exception {
    HttpResponse<String> streamed = get("GET", "/streamed");
    assertEquals(get("GET", "/large?name=%E8%8C%B6").body(), streamed.body());
    assertTrue(streamed.headers().firstValue("Content-Length").isEmpty());
    assertTrue(streamed.body().endsWith("<p>9000 茶</p>"));
  }

  @Test
  void letsTheModelAnswer() throws Exception {
    assertEquals(302, get("GET", "/hello?away").statusCode());
  }
}
