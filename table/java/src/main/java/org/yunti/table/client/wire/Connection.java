package org.yunti.table.client.wire;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.yunti.table.TableException;
import org.yunti.table.memory.HeapBytes;

/**
 * One connection to a table server: frames as docs/formats/table-protocol.md has them. Requests are sent without
 * waiting, and their responses come in the same order. One thread at a time uses it; any thread may close it.
 *
 * <pre>
 *   bytes that follow 4 | number of the request 4 | kind 1 | rest
 * </pre>
 */
public final class Connection implements Closeable {
  /** Bytes of a frame before the rest. */
  public static final int HEAD_BYTES = 9;
  public static final int GET = 3;
  private static final int ERROR = 0;
  private static final int HELLO = 1;
  private static final int OPEN = 2;
  private static final int METRICS = 4;
  private static final int VERSION = 2;
  private static final int FRAME_BYTES_MAX = 1 << 24;
  private static final int STRING_BYTES_MAX = 0xffff;
  private static final int ALL_COLUMNS = 0xffff;
  /** Time for the end of TLS, which nobody waits for. */
  private static final long CLOSE_NANOS = 50_000_000;

  private final Address server;
  private final TimedSocket socket;
  private final Socket tls;
  private final InputStream in;
  private final OutputStream out;
  private final long timeoutNanos;
  private int sent;
  private int received;

  /**
   * Connects.
   *
   * @param tls null: without TLS
   * @param connectTimeout for the connection and TLS
   * @param requestTimeout for each request, and each response that is waited for
   */
  public Connection(Address server, Tls tls, Duration connectTimeout, Duration requestTimeout) throws IOException {
    this.server = server;
    timeoutNanos = requestTimeout.toNanos();
    long deadline = System.nanoTime() + connectTimeout.toNanos();
    socket = server.connect(deadline);
    try {
      socket.setDeadline(deadline);
      this.tls = tls == null || server.isUnix() ? null : tls.over(socket, server);
      in = this.tls == null ? socket.getInputStream() : this.tls.getInputStream();
      out = this.tls == null ? socket.getOutputStream() : this.tls.getOutputStream();
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** Says hello. */
  public void hello(String token) throws IOException, ErrorResponse {
    ByteArrayOutputStream frame = frame(HELLO);
    frame.write("YTSV".getBytes(StandardCharsets.US_ASCII));
    writeShort(frame, VERSION);
    writeString(frame, token, "the token");
    send(frame.toByteArray(), frame.size());
    Response response = receive(HELLO);
    int version = response.readShort();
    if (version != VERSION) {
      throw new ProtocolException("it has the version " + version + " of the protocol, and this client " + VERSION);
    }
    for (int left = response.readShort(); left > 0; left--) {
      response.readString();
    }
    response.requireEnd();
  }

  /**
   * Opens a table.
   *
   * @param columns names of columns; null for all
   */
  public OpenedTable open(String table, List<String> columns) throws IOException, ErrorResponse {
    ByteArrayOutputStream frame = frame(OPEN);
    writeString(frame, table, "the name of the table");
    writeShort(frame, columns == null ? ALL_COLUMNS : columns.size());
    if (columns != null) {
      for (String column : columns) {
        writeString(frame, column, "the name of a column");
      }
    }
    send(frame.toByteArray(), frame.size());
    return new OpenedTable(receive(OPEN));
  }

  /** Returns the server's page of counters for Prometheus. */
  public String counters() throws IOException, ErrorResponse {
    send(frame(METRICS).toByteArray(), HEAD_BYTES);
    return receive(METRICS).readRest();
  }

  private static ByteArrayOutputStream frame(int kind) {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(new byte[HEAD_BYTES - 1], 0, HEAD_BYTES - 1);
    frame.write(kind);
    return frame;
  }

  private static void writeShort(ByteArrayOutputStream frame, int number) {
    frame.write(number);
    frame.write(number >> 8);
  }

  private static void writeString(ByteArrayOutputStream frame, String text, String what) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > STRING_BYTES_MAX) {
      throw new TableException(what + " has " + bytes.length + " bytes; at most " + STRING_BYTES_MAX + " are possible");
    }
    writeShort(frame, bytes.length);
    frame.write(bytes);
  }

  /** Sends a frame, whose length and number are written into it. */
  public void send(byte[] frame, int length) throws IOException {
    writeInt(frame, 0, length - 4);
    writeInt(frame, 4, sent++);
    socket.setDeadline(System.nanoTime() + timeoutNanos);
    out.write(frame, 0, length);
    out.flush();
  }

  /** Writes a number into a frame. */
  public static void writeInt(byte[] frame, int at, int number) {
    for (int i = 0; i < 4; i++) {
      frame[at + i] = (byte) (number >>> 8 * i);
    }
  }

  /** Receives the response of the first request that has none. */
  public Response receive(int kind) throws IOException, ErrorResponse {
    socket.setDeadline(System.nanoTime() + timeoutNanos);
    byte[] head = new byte[4];
    readFully(head);
    int length = HeapBytes.getInt(head, 0);
    if (length < Response.HEAD_BYTES || length > FRAME_BYTES_MAX) {
      throw new ProtocolException("its response is a frame of " + Integer.toUnsignedString(length) + " bytes");
    }
    byte[] bytes = new byte[length];
    readFully(bytes);
    Response response = new Response(bytes, server);
    ErrorResponse error = response.kind() == ERROR ? readError(response) : null;
    // A server that closes the connection may do so before it has read a request.
    if (response.requestNumber() != received && (error == null || !error.isLast())) {
      throw new ProtocolException("it answered the request " + response.requestNumber() + " before " + received);
    }
    received++;
    if (error != null) {
      throw error;
    }
    if (response.kind() != kind) {
      throw new ProtocolException("its response is of the kind " + response.kind() + " instead of " + kind);
    }
    return response;
  }

  private static ErrorResponse readError(Response response) throws IOException {
    int code = response.readShort();
    String text = response.readString();
    response.requireEnd();
    return new ErrorResponse(code, text);
  }

  private void readFully(byte[] target) throws IOException {
    for (int done = 0; done < target.length; ) {
      int step = in.read(target, done, target.length - done);
      if (step < 0) {
        throw new EOFException();
      }
      done += step;
    }
  }

  /** Returns the number of requests that have no response. */
  public int underWay() {
    return sent - received;
  }

  @Override
  public void close() {
    try {
      if (tls != null) {
        socket.setDeadline(System.nanoTime() + CLOSE_NANOS);
        tls.close();
      }
      socket.close();
    } catch (IOException e) {
      closeSocket();
    }
  }

  /** Closes without a word to the server: any thread may, while another waits for a response. */
  public void closeSocket() {
    try {
      socket.close();
    } catch (IOException e) {
      return;
    }
  }
}
