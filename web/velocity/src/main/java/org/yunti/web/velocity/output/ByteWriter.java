package org.yunti.web.velocity.output;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A writer whose text becomes bytes at once, without a buffer of characters between. A compiled template that is given one writes its
 * static text as bytes that were encoded when it was compiled. It is used by one thread at a time.
 *
 * <p>The bytes are those of {@link java.io.OutputStreamWriter}: what the charset cannot say, unpaired surrogates too, becomes the
 * charset's replacement, and a surrogate pair may be cut by two calls.
 */
public abstract class ByteWriter extends Writer {
  /** Bytes that are kept before they go to the stream. */
  static final int BUFFER_BYTES = 16 << 10;

  /** Where they go; null: they are kept. */
  private final OutputStream stream;
  byte[] bytes;
  int count;

  ByteWriter(OutputStream stream, int capacity) {
    this.stream = stream;
    bytes = new byte[capacity];
  }

  /** Writes to a stream, which is not closed before this writer is. */
  public static ByteWriter to(OutputStream stream, Charset charset) {
    return charset.equals(StandardCharsets.UTF_8) ? new Utf8Writer(stream, BUFFER_BYTES) : new CharsetWriter(stream, BUFFER_BYTES, charset);
  }

  /** Keeps the whole in memory, for those that need its length first. */
  public static ByteWriter buffer(Charset charset) {
    return charset.equals(StandardCharsets.UTF_8) ? new Utf8Writer(null, BUFFER_BYTES) : new CharsetWriter(null, BUFFER_BYTES, charset);
  }

  /** Text that was encoded before. */
  public abstract void write(StaticText text) throws IOException;

  /** A number in decimal, as {@link Long#toString(long)} writes it. */
  public abstract void writeNumber(long number) throws IOException;

  /** A number as {@link Double#toString(double)} writes it. */
  public abstract void writeNumber(double number) throws IOException;

  /** Ends what the last characters leave open, such as half a surrogate pair. */
  abstract void finish() throws IOException;

  /** Room for {@code n} bytes behind {@code count}. */
  final void reserve(int n) throws IOException {
    if (bytes.length - count < n) {
      makeRoom(n);
    }
  }

  private void makeRoom(int n) throws IOException {
    if (stream != null) {
      drain();
      if (bytes.length < n) {
        bytes = new byte[n];
      }
      return;
    }
    long wanted = Math.max((long) count + n, 2L * bytes.length);
    if ((long) count + n > Integer.MAX_VALUE - 8) {
      throw new OutOfMemoryError("a page of more than 2 GB");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, Integer.MAX_VALUE - 8));
  }

  final void put(byte[] encoded, int length) throws IOException {
    if (stream != null && length >= BUFFER_BYTES) {
      drain();
      stream.write(encoded, 0, length);
      return;
    }
    reserve(length);
    System.arraycopy(encoded, 0, bytes, count, length);
    count += length;
  }

  private void drain() throws IOException {
    int n = count;
    count = 0;
    stream.write(bytes, 0, n);
  }

  /** Forgets what is kept, so that the buffer serves another page. Not for one that writes to a stream. */
  public void reset() {
    count = 0;
  }

  /** How many bytes are kept. */
  public int size() {
    return count;
  }

  /** The bytes that are kept: those of the array below {@link #size()}; valid until the next call. */
  public byte[] array() {
    return bytes;
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, count);
  }

  public void writeTo(OutputStream out) throws IOException {
    out.write(bytes, 0, count);
  }

  @Override
  public void write(int c) throws IOException {
    write(String.valueOf((char) c));
  }

  @Override
  public void flush() throws IOException {
    if (stream != null) {
      drain();
      stream.flush();
    }
  }

  @Override
  public void close() throws IOException {
    finish();
    flush();
    if (stream != null) {
      stream.close();
    }
  }
}
