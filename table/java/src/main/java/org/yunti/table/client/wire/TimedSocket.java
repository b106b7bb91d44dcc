package org.yunti.table.client.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * A socket whose reads and writes end at one deadline, whatever the server does: the timeout of an ordinary socket
 * begins again with each byte, and its writes have none. It is a Socket so that TLS can be over it. One thread at a
 * time uses it; any thread may close it.
 */
final class TimedSocket extends Socket {
  private static final int BUFFER_BYTES = 1 << 16;

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  /** Bytes that were read and not yet taken. */
  private final ByteBuffer input = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ByteBuffer output = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private long deadline;

  TimedSocket(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
    selector = Selector.open();
    key = channel.register(selector, 0);
    input.flip();
  }

  void connect(SocketAddress address, long until) throws IOException {
    deadline = until;
    boolean isConnected = channel.connect(address);
    while (!isConnected) {
      await(SelectionKey.OP_CONNECT);
      isConnected = channel.finishConnect();
    }
  }

  /** Sets when reads and writes end with a SocketTimeoutException, by {@link System#nanoTime}. */
  void setDeadline(long until) {
    deadline = until;
  }

  private void await(int operation) throws IOException {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      throw new SocketTimeoutException();
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new ClosedByInterruptException();
    }
    try {
      key.interestOps(operation);
      selector.select(TimeUnit.NANOSECONDS.toMillis(left) + 1);
      selector.selectedKeys().clear();
    } catch (CancelledKeyException | ClosedSelectorException e) {
      throw new ClosedChannelException();
    }
  }

  private int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!input.hasRemaining()) {
      int bytes;
      input.clear();
      try {
        while ((bytes = channel.read(input)) == 0) {
          await(SelectionKey.OP_READ);
        }
      } finally {
        input.flip();
      }
      if (bytes < 0) {
        return -1;
      }
    }
    int taken = Math.min(length, input.remaining());
    input.get(target, offset, taken);
    return taken;
  }

  private void write(byte[] bytes, int offset, int length) throws IOException {
    for (int done = 0; done < length; ) {
      int step = Math.min(length - done, BUFFER_BYTES);
      output.clear();
      output.put(bytes, offset + done, step).flip();
      while (output.hasRemaining()) {
        if (channel.write(output) == 0) {
          await(SelectionKey.OP_WRITE);
        }
      }
      done += step;
    }
  }

  @Override
  public InputStream getInputStream() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        return TimedSocket.this.read(target, offset, length);
      }

      @Override
      public int available() {
        return input.remaining();
      }

      @Override
      public void close() throws IOException {
        TimedSocket.this.close();
      }
    };
  }

  @Override
  public OutputStream getOutputStream() {
    return new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        TimedSocket.this.write(bytes, offset, length);
      }

      @Override
      public void close() throws IOException {
        TimedSocket.this.close();
      }
    };
  }

  @Override
  public void close() throws IOException {
    channel.close();
    selector.close();
  }

  // What TLS asks its socket.

  @Override
  public boolean isConnected() {
    return true;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public void shutdownInput() {
    // TLS closes the socket next.
  }

  @Override
  public void shutdownOutput() {
    // TLS closes the socket next.
  }

  @Override
  public void setSoTimeout(int timeoutMs) {
    // The deadline counts.
  }

  @Override
  public int getSoTimeout() {
    return 0;
  }
}
