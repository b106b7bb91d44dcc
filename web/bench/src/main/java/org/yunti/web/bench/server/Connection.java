package org.yunti.web.bench.server;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Persistent connection with the minimum of HTTP, to send requests at little cost. */
final class Connection implements AutoCloseable {
  private static final int TIMEOUT_MS = 10_000;
  private static final int BUFFER_BYTES = 64 << 10;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final byte[] body = new byte[BUFFER_BYTES];

  Connection(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MS);
    in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
    out = socket.getOutputStream();
  }

  /** Requests a page and returns the length of its body, which is discarded. */
  int get(String path) throws IOException {
    out.write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    String status = line();
    if (!status.startsWith("HTTP/1.1 200 ")) {
      throw new IOException("answered " + status);
    }
    int length = -1;
    for (String header = line(); !header.isEmpty(); header = line()) {
      if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(header.substring(header.indexOf(':') + 1).trim());
      }
    }
    for (int left = length; left > 0;) {
      int n = in.read(body, 0, Math.min(left, body.length));
      if (n < 0) {
        throw new EOFException(left + " bytes of a page are missing");
      }
      left -= n;
    }
    return length;
  }

  /** Requests a short text. */
  String text(String path) throws IOException {
    return new String(body, 0, get(path), StandardCharsets.US_ASCII);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the server has closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
