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
 * Words with the observer, over a socket whose end is the end of the look.
 *
 * <pre>
 *   observer -> agent   a {@link Request}; later '.', the wish to end
 *   agent -> observer   frames: a letter, the length of what follows (4 bytes), and it; numbers with their high bytes first
 *
 *     M  number (4), name       a method that is traced
 *     S  text                   what is not traced, and why
 *     R                         from here on calls are seen
 *     C  chunk                  calls of a thread: {@link org.yunti.observe.trace.calls.ThreadCalls}
 *     L  number (8)             calls that are not told, so far
 *     N  text, 0, text          no such method; a hint
 *     B                         another trace is at work here
 *     F  text                   it failed
 *     Z                         all is as it was before
 * </pre>
 *
 * Nothing waits for an observer that does not read: what is not taken stays here, and calls in their ring until they are lost.
 */
final class Wire implements Closeable {
  private static final int ROOM_MIN = 1 << 16;
  /** More than this waiting for the observer: no calls are added. */
  private static final int BEHIND = 1 << 20;

  private final SocketChannel channel;
  /** What waits to be written lies before its position. */
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

  void say(char kind, String text) {
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
    ByteBuffer into = room(5 + (to - from) * 8).put((byte) 'C').putInt((to - from) * 8);
    for (int i = from; i < to; i++) {
      into.putLong(words[i]);
    }
  }

  boolean isBehind() {
    return out.position() > BEHIND;
  }

  /** Writes what the observer takes at once. */
  void flush() throws IOException {
    out.flip();
    try {
      channel.write(out);
    } finally {
      out.compact();
    }
  }

  /** Writes all, or as much as an observer takes in a second. */
  void flushAll() throws IOException, InterruptedException {
    for (int i = 0; i < 200 && out.position() > 0; i++) {
      flush();
      if (out.position() > 0) {
        Thread.sleep(5);
      }
    }
  }

  /** Whether the observer wants the end, or is gone. */
  boolean isEndWanted() throws IOException {
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
