package org.yunti.table.frozen;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that grow: little-endian numbers, LEB128, texts. */
final class Output {
  private byte[] bytes = new byte[256];
  private int size;

  int size() {
    return size;
  }

  private void reserve(int more) {
    if (more > Integer.MAX_VALUE - 8 - size) {
      throw new IllegalArgumentException("the objects have more than 2 GB");
    }
    if (bytes.length - size < more) {
      long wanted = Math.max(2L * bytes.length, (long) size + more);
      bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, Integer.MAX_VALUE - 8));
    }
  }

  void number(long number, int width) {
    reserve(width);
    for (int i = 0; i < width; i++) {
      bytes[size++] = (byte) (number >>> 8 * i);
    }
  }

  void leb(int number) {
    int rest = number;
    for (; rest >>> 7 != 0; rest >>>= 7) {
      number(rest & 0x7f | 0x80, 1);
    }
    number(rest, 1);
  }

  void put(byte[] added) {
    reserve(added.length);
    System.arraycopy(added, 0, bytes, size, added.length);
    size += added.length;
  }

  /** Appends a text behind its length. Returns false if it has half a surrogate pair. */
  boolean text(String text) {
    try {
      ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      leb(utf8.remaining());
      put(Arrays.copyOf(utf8.array(), utf8.remaining()));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  /** Appends a number of a primitive class by its bits. */
  void primitive(int tag, Object value) {
    long bits;
    switch (tag) {
      case Tag.BOOLEAN:
        bits = (Boolean) value ? 1 : 0;
        break;
      case Tag.CHAR:
        bits = (Character) value;
        break;
      case Tag.FLOAT:
        bits = Float.floatToRawIntBits((Float) value);
        break;
      case Tag.DOUBLE:
        bits = Double.doubleToRawLongBits((Double) value);
        break;
      default:
        bits = ((Number) value).longValue();
    }
    number(bits, Tag.width(tag));
  }

  void setInt(int at, int number) {
    for (int i = 0; i < 4; i++) {
      bytes[at + i] = (byte) (number >>> 8 * i);
    }
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }
}
