package org.yunti.web.example;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.context.Context;

/** Handler of the page with stock Velocity: characters through a writer, as applications send it. */
final class StockHandler implements HttpHandler {
  private final VelocityEngine engine;
  private final SearchPage page;

  StockHandler(VelocityEngine engine, SearchPage page) {
    this.engine = engine;
    this.page = page;
  }

  static byte[] render(VelocityEngine engine, Context context) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64 << 10);
    try (Writer writer = new OutputStreamWriter(bytes, StandardCharsets.UTF_8)) {
      engine.getTemplate(SearchPage.TEMPLATE).merge(context, writer);
    }
    return bytes.toByteArray();
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    Context context = page.of(exchange);
    if (context != null) {
      byte[] bytes = render(engine, context);
      exchange.getResponseHeaders().set("Content-Type", "text/html; charset=UTF-8");
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(200, isHead ? -1 : bytes.length);
      if (!isHead) {
        exchange.getResponseBody().write(bytes);
      }
    }
    exchange.close();
  }
}
