package org.yunti.web.bench.server;

import com.sun.management.OperatingSystemMXBean;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.velocity.Template;
import org.yunti.web.bench.engine.Engines;
import org.yunti.web.bench.engine.VelocityRenderer;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * Server of the search page on the JDK's HTTP server, stock or compiled, on virtual threads where available. It renders
 * the whole page before it sends the length. {@code /cpu} returns the processor time of this process in ns. Prints its
 * port; exits at the end of its standard input.
 */
public final class SearchServer {
  private static final int POOL_THREADS = 16;
  private static final int PAGE_BYTES = 128 << 10;

  private final HttpServer server;
  private final ExecutorService threads = threads();
  private final Template template;
  private final Map<String, Object> model;
  /** Pool of writers: a virtual thread exists for one request only, so it cannot keep one. */
  private final Queue<ByteWriter> writers = new ConcurrentLinkedQueue<>();

  public SearchServer(String engine) throws IOException {
    boolean isOurs = engine.equals(Engines.OURS);
    template = VelocityRenderer.template(Pages.SEARCH, isOurs);
    model = Pages.of(Pages.SEARCH).model();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/search", isOurs ? this::bytes : this::characters);
    server.createContext("/cpu", SearchServer::cpu);
    server.start();
  }

  public int port() {
    return server.getAddress().getPort();
  }

  public void stop() {
    server.stop(0);
    threads.shutdown();
  }

  private static ExecutorService threads() {
    try {
      return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException e) {
      return Executors.newFixedThreadPool(POOL_THREADS);
    }
  }

  /** Sends the page as a program with stock Velocity does. */
  private void characters(HttpExchange exchange) throws IOException {
    ByteArrayOutputStream page = new ByteArrayOutputStream(PAGE_BYTES);
    Writer writer = new OutputStreamWriter(page, StandardCharsets.UTF_8);
    template.merge(VelocityRenderer.context(model), writer);
    writer.flush();
    begin(exchange, page.size());
    try (OutputStream out = exchange.getResponseBody()) {
      page.writeTo(out);
    }
  }

  private void bytes(HttpExchange exchange) throws IOException {
    ByteWriter kept = writers.poll();
    ByteWriter writer = kept == null ? ByteWriter.buffer(StandardCharsets.UTF_8) : kept;
    writer.reset();
    template.merge(VelocityRenderer.context(model), writer);
    begin(exchange, writer.size());
    try (OutputStream out = exchange.getResponseBody()) {
      writer.writeTo(out);
    }
    writers.add(writer);
  }

  private static void begin(HttpExchange exchange, int length) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/html; charset=UTF-8");
    exchange.sendResponseHeaders(200, length);
  }

  private static void cpu(HttpExchange exchange) throws IOException {
    long nanos = ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    byte[] answer = Long.toString(nanos).getBytes(StandardCharsets.US_ASCII);
    exchange.sendResponseHeaders(200, answer.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(answer);
    }
  }

  public static void main(String[] args) throws IOException {
    SearchServer server = new SearchServer(args[0]);
    System.out.println(server.port());
    while (System.in.read() >= 0) {
      // until the parent process closes it
    }
    System.exit(0);
  }
}
