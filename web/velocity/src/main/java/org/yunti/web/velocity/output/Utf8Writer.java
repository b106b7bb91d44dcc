package org.yunti.web.velocity.output;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writer of UTF-8. */
final class Utf8Writer extends ByteWriter {
  /**
   * Characters encoded at once, with room reserved for their bytes. Each chunk begins with the fast loop for ASCII, so
   * one other character does not slow the rest of a long text.
   */
  private static final int CHUNK = 256;
  /** Bytes per character: at most three, and four for a surrogate pair. */
  private static final int BYTES_PER_CHAR_MAX = 3;
  /** Bytes of a number: a sign, 19 digits and a point. */
  private static final int NUMBER_BYTES = 24;
  private static final int DECIMALS_MAX = 3;
  private static final VarHandle FOUR = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /**
   * Bytes of static text copied here; the JDK copies longer ones, with a call that costs as much as this many bytes.
   */
  private static final int SHORT_MAX = 64;
  private static final VarHandle EIGHT = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** First half of a surrogate pair that awaits its second half; 0: none. */
  private char high;

  Utf8Writer(OutputStream stream, int capacity) {
    super(stream, capacity);
  }

  @Override
  public void write(StaticText text) throws IOException {
    if (high != 0 || text.depends()) {
      write(text.string());
    } else if (text.length() > SHORT_MAX) {
      put(text.utf8(), text.length());
    } else {
      putShort(text.utf8(), text.length());
    }
  }

  private void putShort(byte[] padded, int length) throws IOException {
    reserve(padded.length);
    byte[] to = bytes;
    int n = count;
    for (int i = 0; i < padded.length; i += StaticText.STEP) {
      EIGHT.set(to, n + i, (long) EIGHT.get(padded, i));
    }
    count = n + length;
  }

  @Override
  public void write(String text) throws IOException {
    write(text, 0, text.length());
  }

  @Override
  public void write(String text, int offset, int length) throws IOException {
    if (offset < 0 || length < 0 || offset > text.length() - length) {
      throw new IndexOutOfBoundsException("offset " + offset + ", length " + length + " of " + text.length());
    }
    for (int at = offset, end = offset + length; at < end;) {
      int n = Math.min(end - at, CHUNK);
      encode(text, at, n);
      at += n;
    }
  }

  @Override
  public void write(char[] text, int offset, int length) throws IOException {
    if (offset < 0 || length < 0 || offset > text.length - length) {
      throw new IndexOutOfBoundsException("offset " + offset + ", length " + length + " of " + text.length);
    }
    for (int at = offset, end = offset + length; at < end;) {
      int n = Math.min(end - at, CHUNK);
      encode(text, at, n);
      at += n;
    }
  }

  private void encode(String text, int from, int length) throws IOException {
    int end = from + length;
    int at = from + begin(length, text.charAt(from));
    byte[] to = bytes;
    int n = count;
    char c;
    while (at < end && (c = text.charAt(at)) < 0x80) {
      to[n++] = (byte) c;
      at++;
    }
    while (at < end) {
      int[] table = Utf8Table.OF_CHAR;
      for (int packed; at < end && (packed = table[text.charAt(at)]) >= 0; at++) {
        FOUR.set(to, n, packed);
        n += packed >>> Utf8Table.LENGTH_SHIFT;
      }
      if (at < end) {
        char first = text.charAt(at++);
        char second = at < end ? text.charAt(at) : 0;
        at += surrogate(n, first, second, at == end);
        n = count;
      }
    }
    count = n;
  }

  /** Encodes characters of an array. */
  private void encode(char[] text, int from, int length) throws IOException {
    int end = from + length;
    int at = from + begin(length, text[from]);
    byte[] to = bytes;
    int n = count;
    while (at < end) {
      int[] table = Utf8Table.OF_CHAR;
      for (int packed; at < end && (packed = table[text[at]]) >= 0; at++) {
        FOUR.set(to, n, packed);
        n += packed >>> Utf8Table.LENGTH_SHIFT;
      }
      if (at < end) {
        char first = text[at++];
        char second = at < end ? text[at] : 0;
        at += surrogate(n, first, second, at == end);
        n = count;
      }
    }
    count = n;
  }

  /**
   * Makes room for {@code length} characters, 1 or more. Returns 1 if the first completes a pair of the last call, else
   * 0.
   */
  private int begin(int length, char first) throws IOException {
    int completed = high != 0 && complete(first) ? 1 : 0;
    // Each character stores four bytes; the next one overwrites the unused ones.
    reserve(length * BYTES_PER_CHAR_MAX + 1);
    return completed;
  }

  /**
   * Writes a surrogate at {@code to}, which has room. Returns the number of characters after it, 0 or 1, that belong to
   * it.
   */
  private int surrogate(int to, char first, char second, boolean isLast) {
    count = to;
    if (first >= Character.MIN_LOW_SURROGATE) {
      bytes[count++] = '?';
    } else if (isLast) {
      high = first;
    } else if (Character.isLowSurrogate(second)) {
      count = pair(bytes, to, first, second);
      return 1;
    } else {
      bytes[count++] = '?';
    }
    return 0;
  }

  /** Handles the first character of a call after half a pair. Returns true if it is the other half. */
  private boolean complete(char next) throws IOException {
    reserve(4);
    char first = high;
    high = 0;
    if (Character.isLowSurrogate(next)) {
      count = pair(bytes, count, first, next);
      return true;
    }
    bytes[count++] = '?';
    return false;
  }

  private static int pair(byte[] to, int at, char high, char low) {
    int c = Character.toCodePoint(high, low);
    to[at] = (byte) (0xF0 | c >> 18);
    to[at + 1] = (byte) (0x80 | c >> 12 & 0x3F);
    to[at + 2] = (byte) (0x80 | c >> 6 & 0x3F);
    to[at + 3] = (byte) (0x80 | c & 0x3F);
    return at + 4;
  }

  @Override
  public void writeNumber(long number) throws IOException {
    if (high != 0 || number == Long.MIN_VALUE) {
      write(Long.toString(number));
      return;
    }
    reserve(NUMBER_BYTES);
    if (number < 0) {
      bytes[count++] = '-';
    }
    count = Digits.write(Math.abs(number), bytes, count);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Prices, shares and percentages have few decimals. A number that equals an integer divided by 10, 100 or 1,000
   * has fewer than 16 digits, so no shorter decimal means it. Between 0.001 and 10,000,000 it has no exponent.
   */
  @Override
  public void writeNumber(double number) throws IOException {
    double size = Math.abs(number);
    if (high == 0 && size >= 1e-3 && size < 1e7) {
      for (int decimals = 1, scale = 10; decimals <= DECIMALS_MAX; decimals++, scale *= 10) {
        long whole = (long) Math.rint(size * scale);
        if ((double) whole / scale == size) {
          fixed(number < 0, whole, scale);
          return;
        }
      }
    }
    write(Double.toString(number));
  }

  private void fixed(boolean isNegative, long whole, int scale) throws IOException {
    reserve(NUMBER_BYTES);
    if (isNegative) {
      bytes[count++] = '-';
    }
    count = Digits.write(whole / scale, bytes, count);
    bytes[count++] = '.';
    int rest = (int) (whole % scale);
    for (int place = scale / 10; place > 0; place /= 10) {
      bytes[count++] = (byte) ('0' + rest / place % 10);
    }
  }

  @Override
  void finish() throws IOException {
    if (high != 0) {
      high = 0;
      reserve(1);
      bytes[count++] = '?';
    }
  }

  @Override
  public void reset() {
    super.reset();
    high = 0;
  }
}
