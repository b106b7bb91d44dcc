package org.yunti.web.page;

import java.nio.charset.Charset;
import java.util.concurrent.ArrayBlockingQueue;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * Pool of buffers, each for a whole page at a time. It is a queue instead of one buffer per thread: a server on virtual
 * threads has many threads, and few render at once. Thread-safe.
 */
public final class BufferPool {
  /** Bytes of a buffer above which it is not reused. */
  static final int KEPT_BYTES_MAX = 4 << 20;

  private final Charset charset;
  private final ArrayBlockingQueue<ByteWriter> free = new ArrayBlockingQueue<>(2 * Runtime.getRuntime()
      .availableProcessors());

  /** Creates a pool of buffers for a charset. */
  public BufferPool(Charset charset) {
    this.charset = charset;
  }

  /** Returns the charset of the buffers. */
  public Charset charset() {
    return charset;
  }

  /** Returns an empty buffer. Return it with {@link #give}. */
  public ByteWriter take() {
    ByteWriter buffer = free.poll();
    return buffer == null ? ByteWriter.buffer(charset) : buffer;
  }

  /**
   * Returns a buffer to the pool; its bytes must not be read afterwards. The buffer of a failed page may be dropped
   * instead.
   */
  public void give(ByteWriter buffer) {
    if (buffer.array().length <= KEPT_BYTES_MAX) {
      buffer.reset();
      free.offer(buffer);
    }
  }
}
