package org.yunti.web.velocity.output;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writer of any charset but UTF-8, through its encoder. */
final class CharsetWriter extends ByteWriter {
  /**
   * Charsets whose encoders keep no state between characters and write no byte-order mark: texts encoded piece by piece
   * equal the whole.
   */
  private static final List<Charset> PIECEWISE = List.of(StandardCharsets.ISO_8859_1, StandardCharsets.US_ASCII,
      StandardCharsets.UTF_16BE, StandardCharsets.UTF_16LE);

  private final Charset charset;
  private final CharsetEncoder encoder;
  private final boolean isPiecewise;
  /** Half of a surrogate pair from the last call; the next character goes after it. */
  private final CharBuffer left = CharBuffer.allocate(2);

  CharsetWriter(OutputStream stream, int capacity, Charset charset) {
    super(stream, capacity);
    this.charset = charset;
    encoder = charset.newEncoder().onMalformedInput(CodingErrorAction.REPLACE)
        .onUnmappableCharacter(CodingErrorAction.REPLACE);
    isPiecewise = PIECEWISE.contains(charset);
  }

  @Override
  public void write(StaticText text) throws IOException {
    if (isPiecewise && left.position() == 0 && !text.depends()) {
      byte[] encoded = text.in(charset);
      put(encoded, encoded.length);
    } else {
      write(text.string());
    }
  }

  @Override
  public void write(String text) throws IOException {
    encode(CharBuffer.wrap(text));
  }

  @Override
  public void write(String text, int offset, int length) throws IOException {
    encode(CharBuffer.wrap(text, offset, offset + length));
  }

  @Override
  public void write(char[] text, int offset, int length) throws IOException {
    encode(CharBuffer.wrap(text, offset, length));
  }

  @Override
  public void writeNumber(long number) throws IOException {
    write(Long.toString(number));
  }

  @Override
  public void writeNumber(double number) throws IOException {
    write(Double.toString(number));
  }

  private void encode(CharBuffer text) throws IOException {
    while (left.position() > 0 && text.hasRemaining()) {
      left.put(text.get());
      left.flip();
      run(left, false);
      // The second of the two may begin a pair itself.
      left.compact();
    }
    run(text, false);
    if (text.hasRemaining()) {
      left.put(text.get());
    }
  }

  /** Encodes a text, except half a pair at its end. */
  private void run(CharBuffer text, boolean isEnd) throws IOException {
    while (true) {
      ByteBuffer to = ByteBuffer.wrap(bytes, count, bytes.length - count);
      CoderResult result = encoder.encode(text, to, isEnd);
      count = to.position();
      if (!result.isOverflow()) {
        return;
      }
      reserve(Math.max(64, (int) (encoder.maxBytesPerChar() * Math.min(text.remaining(), 4096))));
    }
  }

  @Override
  void finish() throws IOException {
    left.flip();
    run(left, true);
    left.clear();
    while (true) {
      ByteBuffer to = ByteBuffer.wrap(bytes, count, bytes.length - count);
      CoderResult result = encoder.flush(to);
      count = to.position();
      if (!result.isOverflow()) {
        return;
      }
      reserve(64);
    }
  }

  @Override
  public void reset() {
    super.reset();
    left.clear();
    encoder.reset();
  }
}
