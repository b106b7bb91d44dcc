package org.yunti.web.velocity.output;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writer that encodes text at once, without a character buffer. A compiled template writes its static text to it as
 * bytes that were encoded at compile time. One thread at a time uses it.
 *
 * <p>The bytes equal those of {@link java.io.OutputStreamWriter}: characters outside of the charset and unpaired
 * surrogates become the charset's replacement. Two calls may split a surrogate pair.
 */
public abstract class ByteWriter extends Writer {
  /** Bytes buffered before they go to the stream. */
  static final int BUFFER_BYTES = 16 << 10;

  /** Target of the bytes; null: they stay in memory. */
  private final OutputStream stream;
  byte[] bytes;
  int count;

  ByteWriter(OutputStream stream, int capacity) {
    this.stream = stream;
    bytes = new byte[capacity];
  }

  /** Returns a writer to a stream; closing the writer closes the stream. */
  public static ByteWriter to(OutputStream stream, Charset charset) {
    return charset.equals(StandardCharsets.UTF_8) ? new Utf8Writer(stream, BUFFER_BYTES)
        : new CharsetWriter(stream, BUFFER_BYTES, charset);
  }

  /** Returns a writer that keeps the whole page in memory, for callers that need its length first. */
  public static ByteWriter buffer(Charset charset) {
    return charset.equals(StandardCharsets.UTF_8) ? new Utf8Writer(null, BUFFER_BYTES)
        : new CharsetWriter(null, BUFFER_BYTES, charset);
  }

  /** Writes text that was encoded at compile time. */
  public abstract void write(StaticText text) throws IOException;

  /** Writes a number in decimal, as {@link Long#toString(long)}. */
  public abstract void writeNumber(long number) throws IOException;

  /** Writes a number, as {@link Double#toString(double)}. */
  public abstract void writeNumber(double number) throws IOException;

  /** Writes the end of the last characters, such as half a surrogate pair. */
  abstract void finish() throws IOException;

  /** Ensures room for {@code n} bytes after {@code count}. */
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

  /** Empties the buffer for the next page. Not for a writer to a stream. */
  public void reset() {
    count = 0;
  }

  /** Returns the number of buffered bytes. */
  public int size() {
    return count;
  }

  /** Returns the buffer, whose first {@link #size()} bytes are the page; valid until the next call. */
  public byte[] array() {
    return bytes;
  }

  /** Returns a copy of the buffered bytes. */
  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, count);
  }

  /** Writes the buffered bytes to a stream. */
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
