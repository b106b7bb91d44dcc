package org.yunti.table.written;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.net.ServerSocketFactory;

/**
 * A table server of the tests: docs/formats/table-protocol.md from begin to end, in memory, a thread for each
 * connection. A test may change its responses, so that it does what no server should.
 */
public final class FakeServer implements Closeable {
  /** Makes the bytes that a connection gets for a request. */
  public interface Behaviour {
    /**
     * @param request the request
     * @param usual the frame of the right response
     * @return bytes to send
     */
    byte[] respond(Request request, byte[] usual) throws Exception;
  }

  /** A request: number, kind, and number of keys if it is a {@code get}. */
  public record Request(int number, int kind, int keys, int bytes) {
  }

  private final String name;
  private final List<Spec> columns;
  private final List<Spec> key = new ArrayList<>();
  private final Map<String, List<Object[]>> rows = new HashMap<>();
  private int rowCount;
  private final Set<Closeable> sockets = ConcurrentHashMap.newKeySet();
  private ServerSocket listener;
  private ServerSocketChannel unixListener;
  private Thread acceptor;
  public final List<Request> gets = Collections.synchronizedList(new ArrayList<>());
  public volatile Behaviour behaviour = (request, usual) -> usual;
  /** True: the connection ends behind the next response. */
  public volatile boolean endsNext;
  public volatile String token = "";
  public volatile long version = 7;
  public volatile boolean isSeveral;
  /** From 1. A whole server answers for all keys, also as one of several shards. */
  public volatile int shard = 1;
  public volatile int shards = 1;
  public volatile boolean isWhole;

  public FakeServer(String name, String columns, String... key) {
    this.name = name;
    // The server makes texts of dictionaries.
    this.columns = Spec.parse(columns.replaceAll(":dict\\b", ":utf8"));
    for (String column : key) {
      this.columns.stream().filter(spec -> spec.name.equals(column)).forEach(this.key::add);
    }
  }

  public FakeServer add(Object... values) {
    rows.computeIfAbsent(text(keyOf(values)), unused -> new ArrayList<>()).add(values);
    rowCount++;
    return this;
  }

  public FakeServer shard(int number, int of) {
    shard = number;
    shards = of;
    return this;
  }

  private byte[] keyOf(Object[] values) {
    return TableWriter.keyBytes(key, key.stream().map(column -> values[columns.indexOf(column)]).toArray());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private int shardOf(byte[] of) {
    return (int) Hash.high(Hash.of(of, 0), shards) + 1;
  }

  public FakeServer listen() throws IOException {
    return listen(ServerSocketFactory.getDefault(), 0);
  }

  /** Listens on 127.0.0.1. Port 0 is any. */
  public FakeServer listen(ServerSocketFactory factory, int port) throws IOException {
    ServerSocket socket = factory.createServerSocket();
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 100);
    listener = socket;
    acceptor = start(() -> {
      while (true) {
        Socket accepted = socket.accept();
        accepted.setTcpNoDelay(true);
        sockets.add(accepted);
        start(() -> serve(accepted.getInputStream(), accepted.getOutputStream(), accepted));
      }
    });
    return this;
  }

  public FakeServer listen(Path path) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    channel.bind(UnixDomainSocketAddress.of(path));
    unixListener = channel;
    acceptor = start(() -> {
      while (true) {
        SocketChannel accepted = channel.accept();
        sockets.add(accepted);
        start(() -> serve(Channels.newInputStream(accepted), Channels.newOutputStream(accepted), accepted));
      }
    });
    return this;
  }

  public int port() {
    return listener.getLocalPort();
  }

  public String address() {
    return "127.0.0.1:" + port();
  }

  public int connections() {
    return sockets.size();
  }

  private interface Work {
    void run() throws Exception;
  }

  private static Thread start(Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Exception ended) {
        return;
      }
    });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void serve(InputStream in, OutputStream out, Closeable socket) throws Exception {
    try (socket) {
      DataInputStream data = new DataInputStream(in);
      boolean isWelcome = false;
      List<List<Spec>> handles = new ArrayList<>();
      while (true) {
        byte[] head = new byte[4];
        data.readFully(head);
        int length = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (length < 5 || length > (isWelcome ? 1 << 24 : 65536)) {
          throw new EOFException("a frame of " + length);
        }
        byte[] frame = new byte[length];
        data.readFully(frame);
        ByteBuffer request = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        int number = request.getInt();
        int kind = request.get();
        Request of = new Request(number, kind, kind == 3 ? request.getInt(10) : 0, length + 4);
        if (kind == 3) {
          gets.add(of);
        }
        byte[] usual = respond(number, kind, request, isWelcome, handles);
        isWelcome |= kind == 1 && usual[8] == 1;
        out.write(behaviour.respond(of, usual));
        out.flush();
        if (endsNext || usual[8] == 0 && List.of(1, 2, 7).contains((int) usual[9])) {
          return;
        }
      }
    } finally {
      sockets.remove(socket);
    }
  }

  private byte[] respond(int number, int kind, ByteBuffer in, boolean isWelcome, List<List<Spec>> handles) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    switch (isWelcome || kind == 1 ? kind : 0) {
      case 1 -> {
        if (in.getInt() != 0x56535459 || in.getShort() != 2) {
          return error(number, 1, "this is no table client of version 2");
        }
        if (!string(in).equals(token)) {
          return error(number, 2, "the token is wrong");
        }
        Spec.Row.number(out, 2, 2);
        Spec.Row.number(out, 1, 2);
        string(out, name);
      }
      case 2 -> {
        String table = string(in);
        if (!table.equals(name)) {
          return error(number, 3, "there is no table " + table + "; there is " + name);
        }
        return open(number, in, out, handles);
      }
      case 4 -> out.writeBytes("# TYPE a counter\na{b=\"c d\"} 12\n\nf 0.5\n".getBytes(StandardCharsets.UTF_8));
      case 3 -> {
        return get(number, in, out, handles);
      }
      default -> {
        return error(number, 1, "kind " + kind);
      }
    }
    return frame(number, kind, out);
  }

  private byte[] open(int number, ByteBuffer in, ByteArrayOutputStream out, List<List<Spec>> handles) {
    int count = in.getShort() & 0xffff;
    List<Spec> asked = new ArrayList<>(count == 0xffff ? columns : List.of());
    for (int i = 0; count != 0xffff && i < count; i++) {
      String column = string(in);
      Spec spec = columns.stream().filter(one -> one.name.equals(column)).findFirst().orElse(null);
      if (spec == null) {
        return error(number, 3, "the table has no column " + column);
      }
      asked.add(spec);
    }
    Spec.Row.number(out, 1000 + handles.size(), 4);
    handles.add(asked);
    for (long value : new long[] {version, rows.size(), rowCount}) {
      Spec.Row.number(out, value, 8);
    }
    Spec.Row.number(out, shard, 4);
    Spec.Row.number(out, shards, 4);
    out.write((isSeveral ? 1 : 0) | (isWhole || shards == 1 ? 2 : 0));
    Spec.Row.number(out, key.size(), 2);
    for (Spec column : key) {
      out.write(column.type);
      string(out, column.name);
    }
    Spec.Row.number(out, asked.size(), 2);
    asked.forEach(column -> column.write(out));
    return frame(number, 2, out);
  }

  private byte[] get(int number, ByteBuffer in, ByteArrayOutputStream out, List<List<Spec>> handles) {
    int handle = in.getInt() - 1000;
    boolean isAll = in.get() == 1;
    if (handle < 0 || handle >= handles.size()) {
      return error(number, 3, "there is no handle " + handle);
    }
    List<Spec> of = handles.get(handle);
    for (int left = in.getInt(); left > 0; left--) {
      byte[] bytes = new byte[leb(in)];
      in.get(bytes);
      if (!isWhole && shards > 1 && shardOf(bytes) != shard) {
        return error(number, 4, "a key belongs to the shard " + shardOf(bytes));
      }
      List<Object[]> found = rows.getOrDefault(text(bytes), List.of());
      found = isAll || found.isEmpty() ? found : found.subList(0, 1);
      Spec.Row.leb(out, found.size());
      for (Object[] row : found) {
        byte[] one = Spec.Row.of(of, of.stream().map(column -> row[columns.indexOf(column)]).toArray());
        Spec.Row.leb(out, one.length);
        out.writeBytes(one);
      }
    }
    return frame(number, 3, out);
  }

  /** Returns the shard of an integer key, from 1. */
  public int shardOf(long number) {
    return shardOf(TableWriter.keyBytes(key, new Object[] {number}));
  }

  private static int leb(ByteBuffer in) {
    int length = 0;
    for (int shift = 0; ; shift += 7) {
      byte part = in.get();
      length |= (part & 0x7f) << shift;
      if (part >= 0) {
        return length;
      }
    }
  }

  private static String string(ByteBuffer in) {
    byte[] bytes = new byte[in.getShort() & 0xffff];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static void string(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    Spec.Row.number(out, bytes.length, 2);
    out.writeBytes(bytes);
  }

  private static byte[] frame(int number, int kind, ByteArrayOutputStream rest) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Spec.Row.number(out, 5 + rest.size(), 4);
    Spec.Row.number(out, number, 4);
    out.write(kind);
    out.writeBytes(rest.toByteArray());
    return out.toByteArray();
  }

  /** Returns a frame with bytes as its rest. */
  public static byte[] frame(int number, int kind, int... rest) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int one : rest) {
      out.write(one);
    }
    return frame(number, kind, out);
  }

  public static byte[] error(int number, int code, String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Spec.Row.number(out, code, 2);
    string(out, text);
    return frame(number, 0, out);
  }

  /** Ends all connections, as a server that is killed does. */
  public void cut() {
    for (Closeable socket : new HashSet<>(sockets)) {
      try {
        socket.close();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Override
  public void close() {
    try {
      if (listener != null) {
        listener.close();
      }
      if (unixListener != null) {
        unixListener.close();
      }
      if (acceptor != null) {
        // The kernel accepts connections until this thread has left its call.
        acceptor.join();
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
    cut();
  }
}
