package org.yunti.hadoop.faults;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;

/**
 * Proxy of a ShuffleHandler that produces the faults listed in a file.
 *
 * <p>Each request takes the first line of {@code plan} in its directory and applies its fault; without a line it passes
 * unchanged. Each request appends a line to {@code log}: the fault and the request. A connection carries one request.
 */
final class FaultProxy implements Closeable {
  private static final String PAGE = "<html><body><h1>It does not work</h1></body></html>\n";

  private final ServerSocket listening;
  private final int realPort;
  private final Path plan;
  private final Path log;

  FaultProxy(int realPort, Path directory) throws IOException {
    this.realPort = realPort;
    plan = directory.resolve("plan");
    log = directory.resolve("log");
    listening = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    daemon(this::listen);
  }

  int port() {
    return listening.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "fault proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void listen() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        daemon(() -> serve(client));
      } catch (IOException e) {
        // The socket is closed, or a client disconnected at once.
        continue;
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      String request = head(client.getInputStream());
      String fault = next(request.lines().findFirst().orElse(""));
      OutputStream out = client.getOutputStream();
      switch (fault) {
        case "pass" -> {
          try (Socket real = connect(request)) {
            real.getInputStream().transferTo(out);
          }
        }
        case "404", "429", "500" -> out.write(error(fault, ""));
        case "429-retry-after" -> out.write(error("429", "Retry-After: 300\r\n"));
        case "200-page" -> out.write(error("200", ""));
        case "hang" -> client.getInputStream().read();
        default -> spoil(fault, request, client);
      }
      out.flush();
    } catch (IOException e) {
      // The reducer disconnected.
      return;
    }
  }

  /** Applies a fault to the response of the real handler. */
  private void spoil(String fault, String request, Socket client) throws IOException {
    String head;
    byte[] body;
    try (Socket real = connect(request)) {
      head = head(real.getInputStream());
      body = real.getInputStream().readAllBytes();
    }
    OutputStream out = client.getOutputStream();
    if (fault.startsWith("header-")) {
      // A false first header may change the length.
      body = falsify(fault, body);
      head = head.replaceFirst("(?i)content-length: *\\d+", "content-length: " + body.length);
    }
    out.write(head.getBytes(StandardCharsets.ISO_8859_1));
    switch (fault) {
      case "200-page-signed" -> out.write(PAGE.getBytes(StandardCharsets.ISO_8859_1));
      case "half" -> out.write(body, 0, body.length / 2);
      case "half-hang" -> {
        out.write(body, 0, body.length / 2);
        out.flush();
        client.getInputStream().read();
      }
      case "flip" -> {
        body[body.length / 2] ^= 1;
        out.write(body);
      }
      default -> out.write(body);
    }
  }

  private static byte[] falsify(String fault, byte[] body) throws IOException {
    DataInputBuffer in = new DataInputBuffer();
    in.reset(body, body.length);
    String map = WritableUtils.readStringSafely(in, 1000);
    long part = WritableUtils.readVLong(in);
    long raw = WritableUtils.readVLong(in);
    int reduce = WritableUtils.readVInt(in);
    ShuffleHeader header =
        switch (fault) {
          case "header-huge" -> new ShuffleHeader(map, 1L << 50, 1L << 50, reduce);
          case "header-huge-part" -> new ShuffleHeader(map, 1L << 50, raw, reduce);
          case "header-long" -> new ShuffleHeader(map, part + 5, raw + 5, reduce);
          case "header-short" -> new ShuffleHeader(map, part - 5, raw - 5, reduce);
          case "header-empty" -> new ShuffleHeader(map, 0, 0, reduce);
          case "header-negative" -> new ShuffleHeader(map, -1, raw, reduce);
          case "header-other-reduce" -> new ShuffleHeader(map, part, raw, reduce + 1);
          default -> throw new IOException("no such fault: " + fault);
        };
    DataOutputBuffer out = new DataOutputBuffer();
    header.write(out);
    out.write(body, in.getPosition(), body.length - in.getPosition());
    return Arrays.copyOf(out.getData(), out.getLength());
  }

  private Socket connect(String request) throws IOException {
    Socket real = new Socket(InetAddress.getLoopbackAddress(), realPort);
    real.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
    real.getOutputStream().flush();
    return real;
  }

  private static byte[] error(String status, String headers) {
    String head = "HTTP/1.1 " + status + " Made\r\nContent-Type: text/html\r\nConnection: close\r\n" + headers;
    return (head + "Content-Length: " + PAGE.length() + "\r\n\r\n" + PAGE).getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Reads the head up to and including the empty line. */
  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    int ends = 0;
    while (ends < 4) {
      int b = in.read();
      if (b < 0) {
        throw new IOException("the head has no end");
      }
      ends = b == "\r\n\r\n".charAt(ends) ? ends + 1 : b == '\r' ? 1 : 0;
      head.write(b);
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  private synchronized String next(String request) throws IOException {
    List<String> lines = Files.exists(plan) ? new ArrayList<>(Files.readAllLines(plan)) : new ArrayList<>();
    String fault = lines.isEmpty() ? "pass" : lines.remove(0);
    if (!fault.equals("pass")) {
      Files.write(plan, lines);
    }
    Files.writeString(log, fault + " " + request + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    return fault;
  }
}
