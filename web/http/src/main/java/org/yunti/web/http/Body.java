package org.yunti.web.http;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;

/** Body of a response in chunks. The first chunk sends the head; until then the response may still become an error. */
final class Body extends OutputStream {
  private final HttpExchange exchange;
  private OutputStream out;

  Body(HttpExchange exchange) {
    this.exchange = exchange;
  }

  private OutputStream opened() throws IOException {
    if (out == null) {
      exchange.sendResponseHeaders(200, TemplateHandler.isHead(exchange) ? -1 : 0);
      out = TemplateHandler.isHead(exchange) ? OutputStream.nullOutputStream() : exchange.getResponseBody();
    }
    return out;
  }

  @Override
  public void write(int b) throws IOException {
    opened().write(b);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (length > 0) {
      opened().write(bytes, offset, length);
    }
  }

  @Override
  public void flush() throws IOException {
    if (out != null) {
      out.flush();
    }
  }

  /** Ends the page, which may be empty. */
  void finish() throws IOException {
    opened().flush();
  }
}
