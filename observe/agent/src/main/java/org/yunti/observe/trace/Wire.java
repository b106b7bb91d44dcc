package org.yunti.observe.trace;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Connection to the observer over a socket. The trace ends when the socket closes.
 *
 * <pre>
 *   observer -> agent   a {@link Request}; later '.', the request to end
 *   agent -> observer   frames: a letter, the length of the body (4 bytes), the body; numbers are big-endian
 *
 *     M  number (4), name       a traced method
 *     S  text                   something that is not traced, and the reason
 *     R                         calls are recorded from now on
 *     C  chunk                  calls of a thread: {@link org.yunti.observe.trace.calls.ThreadCalls}
 *     E  chunk                  events of a thread: {@link org.yunti.observe.trace.calls.ThreadEvents}
 *     O  text                   an object of events: {@link org.yunti.observe.trace.objects.Objects}
 *     P  text                   free units of a pool: identity, nanoTime, units, separated by '|'
 *     L  number (8)             calls or events lost so far
 *     N  text, 0, text          a pattern without a method; a hint
 *     B                         another trace is running in this JVM
 *     F  text                   an error
 *     Z                         all methods are restored
 * </pre>
 *
 * Nothing waits for an observer that does not read. Unread bytes stay here, and calls stay in their ring until they are
 * lost.
 */
final class Wire implements Closeable {
  private static final int ROOM_MIN = 1 << 16;
  /** Unread bytes above which no calls are added. */
  private static final int BEHIND = 1 << 20;

  private final SocketChannel channel;
  /** Bytes to write, up to the buffer's position. */
  private ByteBuffer out = ByteBuffer.allocate(ROOM_MIN);

  Wire(Path socket) throws IOException {
    channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  Request request() throws IOException {
    ByteBuffer in = ByteBuffer.allocate(1 << 16);
    while (true) {
      String text = new String(in.array(), 0, in.position(), StandardCharsets.UTF_8);
      if (text.endsWith("\n\n")) {
        channel.configureBlocking(false);
        return Request.parse(text.stripTrailing());
      }
      if (channel.read(in) <= 0) {
        throw new EOFException();
      }
    }
  }

  void send(char kind, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    room(5 + bytes.length).put((byte) kind).putInt(bytes.length).put(bytes);
  }

  void method(int number, String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    room(9 + bytes.length).put((byte) 'M').putInt(4 + bytes.length).putInt(number).put(bytes);
  }

  void lost(long calls) {
    room(13).put((byte) 'L').putInt(8).putLong(calls);
  }

  void calls(long[] words, int from, int to) {
    chunk('C', words, from, to);
  }

  void events(long[] words, int from, int to) {
    chunk('E', words, from, to);
  }

  private void chunk(char kind, long[] words, int from, int to) {
    ByteBuffer into = room(5 + (to - from) * 8).put((byte) kind).putInt((to - from) * 8);
    for (int i = from; i < to; i++) {
      into.putLong(words[i]);
    }
  }

  boolean isBehind() {
    return out.position() > BEHIND;
  }

  /** Writes as much as the socket accepts without blocking. */
  void flush() throws IOException {
    out.flip();
    try {
      channel.write(out);
    } finally {
      out.compact();
    }
  }

  /** Writes everything, or as much as the observer reads in a second. */
  void flushAll() throws IOException, InterruptedException {
    for (int i = 0; i < 200 && out.position() > 0; i++) {
      flush();
      if (out.position() > 0) {
        Thread.sleep(5);
      }
    }
  }

  /** Returns true if the observer has requested the end, or is gone. */
  boolean isEndRequested() throws IOException {
    return channel.read(ByteBuffer.allocate(16)) != 0;
  }

  private ByteBuffer room(int bytes) {
    if (out.remaining() < bytes) {
      int needed = Math.max(out.position() + bytes, out.capacity() * 2);
      out = ByteBuffer.allocate(needed).put(out.flip());
    }
    return out;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
