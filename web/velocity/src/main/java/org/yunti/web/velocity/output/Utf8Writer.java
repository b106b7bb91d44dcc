package org.yunti.web.velocity.output;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** UTF-8. */
final class Utf8Writer extends ByteWriter {
  /** Characters that are taken out of a string at once. */
  private static final int CHUNK = 1024;
  /** A character of a string takes at most three bytes, and a pair of them four. */
  private static final int BYTES_PER_CHAR_MAX = 3;

  private char[] chars = new char[CHUNK];
  /** The first half of a surrogate pair whose other half has not come yet; 0: none. */
  private char high;

  Utf8Writer(OutputStream stream, int capacity) {
    super(stream, capacity);
  }

  @Override
  public void write(StaticText text) throws IOException {
    if (high != 0 || text.depends) {
      write(text.string);
    } else {
      put(text.utf8);
    }
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
      text.getChars(at, at + n, chars, 0);
      encode(chars, 0, n);
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

  private void encode(char[] text, int from, int length) throws IOException {
    int end = from + length;
    int at = from;
    if (high != 0 && length > 0) {
      at = complete(text, at);
    }
    reserve(length * BYTES_PER_CHAR_MAX);
    byte[] to = bytes;
    int n = count;
    while (at < end) {
      char c = text[at++];
      if (c < 0x80) {
        to[n++] = (byte) c;
      } else if (c < 0x800) {
        to[n++] = (byte) (0xC0 | c >> 6);
        to[n++] = (byte) (0x80 | c & 0x3F);
      } else if (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE) {
        to[n++] = (byte) (0xE0 | c >> 12);
        to[n++] = (byte) (0x80 | c >> 6 & 0x3F);
        to[n++] = (byte) (0x80 | c & 0x3F);
      } else if (c >= Character.MIN_LOW_SURROGATE) {
        to[n++] = '?';
      } else if (at == end) {
        high = c;
      } else if (Character.isLowSurrogate(text[at])) {
        n = pair(to, n, c, text[at++]);
      } else {
        to[n++] = '?';
      }
    }
    count = n;
  }

  /** The first character of a call, behind half a pair that the last call has left. */
  private int complete(char[] text, int at) throws IOException {
    reserve(4);
    char first = high;
    high = 0;
    if (Character.isLowSurrogate(text[at])) {
      count = pair(bytes, count, first, text[at]);
      return at + 1;
    }
    bytes[count++] = '?';
    return at;
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
  public void write(long number) throws IOException {
    if (high != 0) {
      write(Long.toString(number));
      return;
    }
    if (number == Long.MIN_VALUE) {
      put(Long.toString(number).getBytes(StandardCharsets.ISO_8859_1));
      return;
    }
    reserve(20);
    long rest = number;
    if (rest < 0) {
      bytes[count++] = '-';
      rest = -rest;
    }
    int digits = 1;
    for (long limit = 10; digits < 19 && rest >= limit; limit *= 10) {
      digits++;
    }
    int at = count + digits;
    count = at;
    do {
      bytes[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
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
