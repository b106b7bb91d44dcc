package org.yunti.web.page;

import java.nio.charset.Charset;
import java.util.concurrent.ArrayBlockingQueue;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * Buffers that hold a whole page and then the next one. A queue and not one a thread: a server on virtual threads has many threads, and
 * few of them render at once.
 */
public final class BufferPool {
  /** A buffer that one page has made larger than this is left to the garbage collector. */
  static final int KEPT_BYTES_MAX = 4 << 20;

  private final Charset charset;
  private final ArrayBlockingQueue<ByteWriter> free = new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());

  public BufferPool(Charset charset) {
    this.charset = charset;
  }

  public Charset charset() {
    return charset;
  }

  /** An empty buffer; it comes back by {@link #give}. */
  public ByteWriter take() {
    ByteWriter buffer = free.poll();
    return buffer == null ? ByteWriter.buffer(charset) : buffer;
  }

  /** Takes a buffer back, whose bytes nobody reads any more. One whose page has failed may be dropped instead. */
  public void give(ByteWriter buffer) {
    if (buffer.array().length <= KEPT_BYTES_MAX) {
      buffer.reset();
      free.offer(buffer);
    }
  }
}
