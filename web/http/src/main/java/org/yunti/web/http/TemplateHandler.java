package org.yunti.web.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.context.Context;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * Handler that answers each request with a page of one template:
 *
 * <pre>
 *   PageRenderer pages = new PageRenderer(engine);
 *   server.createContext("/search", new TemplateHandler(pages, "search.vm", exchange -&gt;
 *       new VelocityContext(model(exchange))));
 * </pre>
 *
 * <p>The page is rendered whole and sent with its length; {@link #streaming()} sends it in chunks as it is rendered. An
 * error before the first byte is a plain 500 and a line of the log. A later error closes the connection, so that no
 * client takes half a page for a whole one. The JDK's server delays small packets unless it is started with {@code
 * -Dsun.net.httpserver.nodelay=true}.
 */
public final class TemplateHandler implements HttpHandler {
  private static final Logger LOG = LoggerFactory.getLogger(TemplateHandler.class);

  private final PageRenderer pages;
  private final String template;
  private final Model model;
  private final String contentType;
  private final boolean isStreaming;

  /** Model of a page. */
  public interface Model {
    /**
     * Returns the context of a request; null if the method has answered the request itself, for example with a
     * redirect.
     */
    Context of(HttpExchange exchange) throws IOException;
  }

  /** Creates a handler that sends text/html in the charset of the pages. */
  public TemplateHandler(PageRenderer pages, String template, Model model) {
    this(pages, template, model, "text/html; charset=" + pages.charset().name(), false);
  }

  private TemplateHandler(PageRenderer pages, String template, Model model, String contentType, boolean isStreaming) {
    this.pages = pages;
    this.template = template;
    this.model = model;
    this.contentType = contentType;
    this.isStreaming = isStreaming;
  }

  /** Returns a handler with another content type, which must name the charset. */
  public TemplateHandler contentType(String type) {
    return new TemplateHandler(pages, template, model, type, isStreaming);
  }

  /** Returns a handler that sends the page in chunks as it is rendered. */
  public TemplateHandler streaming() {
    return new TemplateHandler(pages, template, model, contentType, true);
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    Body body = new Body(exchange);
    try {
      Context context = model.of(exchange);
      if (context == null) {
        exchange.close();
        return;
      }
      exchange.getResponseHeaders().set("Content-Type", contentType);
      if (isStreaming) {
        pages.streamed(template, context, body);
        body.finish();
      } else {
        pages.whole(template, context, page -> send(exchange, page));
      }
    } catch (RuntimeException | IOException e) {
      if (exchange.getResponseCode() != -1) {
        // The server closes the connection of a handler that throws: the client sees that the last chunk is missing.
        throw e instanceof IOException io ? io : new IOException("half of " + template + " was sent", e);
      }
      LOG.error("{} {}: {} failed before its first byte", exchange.getRequestMethod(), exchange.getRequestURI(),
          template, e);
      fail(exchange);
      return;
    }
    exchange.close();
  }

  private static void send(HttpExchange exchange, ByteWriter page) throws IOException {
    if (isHead(exchange)) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(page.size()));
      exchange.sendResponseHeaders(200, -1);
    } else {
      // For 0 bytes, this server would send chunks.
      exchange.sendResponseHeaders(200, page.size() == 0 ? -1 : page.size());
      if (page.size() > 0) {
        page.writeTo(exchange.getResponseBody());
      }
    }
  }

  static boolean isHead(HttpExchange exchange) {
    return exchange.getRequestMethod().equals("HEAD");
  }

  private static void fail(HttpExchange exchange) throws IOException {
    byte[] text = "500 Internal Server Error\n".getBytes(StandardCharsets.US_ASCII);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=US-ASCII");
    exchange.sendResponseHeaders(500, isHead(exchange) ? -1 : text.length);
    if (!isHead(exchange)) {
      exchange.getResponseBody().write(text);
    }
    exchange.close();
  }
}
