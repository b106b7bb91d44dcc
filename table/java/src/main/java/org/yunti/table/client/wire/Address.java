package org.yunti.table.client.wire;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

import org.yunti.table.TableException;

/** Address of a server: {@code unix:PATH}, {@code HOST:PORT} or {@code [IPV6]:PORT}. */
public final class Address {
  private static final String UNIX = "unix:";
  private static final int PORT_MAX = 65_535;
  /** Pause before a Unix socket with a full queue is tried again. */
  private static final int QUEUE_PAUSE_MS = 5;

  private final String text;
  /** Path of a Unix socket, or null. */
  private final String path;
  private final String host;
  private final int port;

  private Address(String text, String path, String host, int port) {
    this.text = text;
    this.path = path;
    this.host = host;
    this.port = port;
  }

  /** @throws IllegalArgumentException if the text is no address */
  public static Address of(String text) {
    if (text.startsWith(UNIX)) {
      return new Address(text, text.substring(UNIX.length()), null, 0);
    }
    int colon = text.lastIndexOf(':');
    String host = text.substring(0, Math.max(colon, 0));
    boolean isBracketed = host.startsWith("[") && host.endsWith("]");
    host = isBracketed ? host.substring(1, host.length() - 1) : host;
    int port = -1;
    try {
      port = Integer.parseInt(text.substring(colon + 1));
    } catch (NumberFormatException e) {
      port = -1;
    }
    if (host.isEmpty() || host.indexOf(':') >= 0 && !isBracketed || port < 1 || port > PORT_MAX) {
      throw new IllegalArgumentException("the address " + text + " is neither unix:PATH nor HOST:PORT nor [IPV6]:PORT");
    }
    return new Address(text, null, host, port);
  }

  public boolean isUnix() {
    return path != null;
  }

  String host() {
    return host;
  }

  int port() {
    return port;
  }

  /** Connects until a deadline of {@link System#nanoTime}. */
  TimedSocket connect(long deadline) throws IOException {
    if (path != null) {
      return connectUnix(deadline);
    }
    IOException failure = new UnknownHostException("the host " + host + " has no address");
    for (InetAddress address : InetAddress.getAllByName(host)) {
      SocketChannel channel = SocketChannel.open();
      try {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        return connect(channel, new InetSocketAddress(address, port), deadline);
      } catch (IOException e) {
        channel.close();
        failure = e;
      }
    }
    throw failure;
  }

  private static TimedSocket connect(SocketChannel channel, SocketAddress address, long deadline) throws IOException {
    TimedSocket socket = new TimedSocket(channel);
    try {
      socket.connect(address, deadline);
      return socket;
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private TimedSocket connectUnix(long deadline) throws IOException {
    SocketAddress address = unixAddress();
    while (true) {
      SocketChannel channel = unixChannel();
      try {
        return connect(channel, address, deadline);
      } catch (SocketException e) {
        boolean isFull = e.getMessage() != null && e.getMessage().contains("temporarily unavailable");
        if (!isFull || deadline - System.nanoTime() < 0) {
          throw e;
        }
      } finally {
        // A connected channel belongs to its socket.
        if (!channel.isConnected()) {
          channel.close();
        }
      }
      pause();
    }
  }

  private static void pause() throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(QUEUE_PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new java.nio.channels.ClosedByInterruptException();
    }
  }

  private SocketAddress unixAddress() throws IOException {
    try {
      return (SocketAddress) Class.forName("java.net.UnixDomainSocketAddress").getMethod("of", String.class)
          .invoke(null, path);
    } catch (InvocationTargetException e) {
      throw failed(e);
    } catch (ReflectiveOperationException before16) {
      throw new TableException(text + ": Unix sockets need Java 16, and this is Java "
          + System.getProperty("java.version") + "; connect to a TCP address of the server", before16);
    }
  }

  private SocketChannel unixChannel() throws IOException {
    try {
      return (SocketChannel) SocketChannel.class.getMethod("open", ProtocolFamily.class)
          .invoke(null, StandardProtocolFamily.valueOf("UNIX"));
    } catch (InvocationTargetException e) {
      throw failed(e);
    } catch (ReflectiveOperationException e) {
      throw new IOException("no Unix socket", e);
    }
  }

  private static IOException failed(InvocationTargetException e) {
    return e.getCause() instanceof IOException ? (IOException) e.getCause() : new IOException(e.getCause());
  }

  @Override
  public String toString() {
    return text;
  }
}
