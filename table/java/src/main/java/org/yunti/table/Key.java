package org.yunti.table;

import java.util.Arrays;
import java.util.List;

import org.yunti.table.format.KeyHash;
import org.yunti.table.memory.HeapBytes;
import org.yunti.table.memory.Memory;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Type;

/**
 * A key of several columns, or a bound of a range: {@code key.clear().add("berlin").add(7)}. It allocates nothing once
 * its array has grown to the longest key. One thread at a time uses it.
 */
public final class Key {
  private static final int BYTES = 64;

  private final Table table;
  private final Column[] columns;
  /** The key's bytes, as they are hashed. */
  private byte[] bytes = new byte[BYTES];
  private int length;
  private int size;
  /** Integers of the columns; begins and ends of the others in the bytes. */
  private final long[] numbers;
  private final int[] begins;
  private final int[] ends;

  Key(Table table) {
    this.table = table;
    List<Column> of = table.schema().key();
    columns = of.toArray(new Column[0]);
    numbers = new long[columns.length];
    begins = new int[columns.length];
    ends = new int[columns.length];
  }

  /** Removes all values. */
  public Key clear() {
    size = 0;
    length = 0;
    return this;
  }

  /** Returns the number of added values. */
  public int size() {
    return size;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  Table table() {
    return table;
  }

  /** Adds the value of an integer column, or of a {@code bool} as 0 or 1. */
  public Key add(long number) {
    Column column = next();
    if (!column.type().isInteger()) {
      throw wrong(column, "the number " + number);
    }
    reserve(8);
    for (int i = 0; i < 8; i++) {
      bytes[length + i] = (byte) (number >>> 8 * i);
    }
    length += 8;
    numbers[size++] = number;
    return this;
  }

  public Key add(boolean is) {
    return add(is ? 1 : 0);
  }

  public Key add(byte[] value) {
    return add(value, 0, value.length);
  }

  /** Adds the bytes of a value of the type {@code utf8} or {@code bytes}. */
  public Key add(byte[] value, int offset, int count) {
    beginBytes(count);
    System.arraycopy(value, offset, bytes, length, count);
    length += count;
    endBytes();
    return this;
  }

  public Key add(String text) {
    int chars = text.length();
    beginBytes(3 * chars);
    byte[] to = bytes;
    int at = length;
    for (int i = 0; i < chars; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        length = addLonger(text, i, at);
        endBytes();
        return this;
      }
      to[at++] = (byte) c;
    }
    length = at;
    endBytes();
    return this;
  }

  /** Writes the characters from the first that is not ASCII. A surrogate alone gives bytes that no key has. */
  private int addLonger(String text, int from, int to) {
    int at = to;
    for (int i = from; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (c < 0x80) {
        bytes[at++] = (byte) c;
      } else if (c < 0x800) {
        bytes[at++] = (byte) (0xC0 | c >> 6);
        bytes[at++] = (byte) (0x80 | c & 0x3F);
      } else if (c < 0x10000) {
        bytes[at++] = (byte) (0xE0 | c >> 12);
        bytes[at++] = (byte) (0x80 | c >> 6 & 0x3F);
        bytes[at++] = (byte) (0x80 | c & 0x3F);
      } else {
        bytes[at++] = (byte) (0xF0 | c >> 18);
        bytes[at++] = (byte) (0x80 | c >> 12 & 0x3F);
        bytes[at++] = (byte) (0x80 | c >> 6 & 0x3F);
        bytes[at++] = (byte) (0x80 | c & 0x3F);
      }
    }
    return at;
  }

  /** Adds a Boolean, an integer, a String or an array of bytes. */
  public Key add(Object value) {
    if (value instanceof String) {
      return add((String) value);
    }
    if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
      return add(((Number) value).longValue());
    }
    if (value instanceof Boolean) {
      return add(((Boolean) value).booleanValue());
    }
    if (value instanceof byte[]) {
      return add((byte[]) value);
    }
    throw wrong(next(), value == null ? "null" : "a " + value.getClass().getName());
  }

  Key addAll(Object... values) {
    for (Object value : values) {
      add(value);
    }
    return this;
  }

  /** Adds the key of a row. */
  Key addOf(Cells row) {
    for (Column column : columns) {
      if (column.type().isInteger()) {
        add(Values.integer(row.memory, column.type(), row.begin + column.at()));
      } else {
        long begin = row.start(column.at());
        int count = Math.toIntExact(row.start(column.at() + 1) - begin);
        beginBytes(count);
        row.memory.copy(begin, bytes, length, count);
        length += count;
        endBytes();
      }
    }
    return this;
  }

  private Column next() {
    if (size == columns.length) {
      throw new IllegalArgumentException("the key of " + table.name() + " has no more columns than "
          + table.schema().key());
    }
    return columns[size];
  }

  private IllegalArgumentException wrong(Column column, String value) {
    return new IllegalArgumentException("the key of " + table.name() + " has the columns " + table.schema().key() + ": "
        + value + " is no value of " + column);
  }

  /** Before a value of variable length but the last column's there is its length. */
  private void beginBytes(int most) {
    Column column = next();
    if (column.type().isInteger()) {
      throw wrong(column, "a text or bytes");
    }
    reserve(4 + most);
    length += size < columns.length - 1 ? 4 : 0;
    begins[size] = length;
  }

  private void endBytes() {
    ends[size] = length;
    if (size < columns.length - 1) {
      int count = length - begins[size];
      for (int i = 0; i < 4; i++) {
        bytes[begins[size] - 4 + i] = (byte) (count >>> 8 * i);
      }
    }
    size++;
  }

  private void reserve(int more) {
    if (bytes.length - length < more) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
    }
  }

  void requireAll() {
    if (size != columns.length) {
      throw new IllegalArgumentException("the key of " + table.name() + " has the columns " + table.schema().key() + "; "
          + size + " are given");
    }
  }

  /** Returns true if the types of the columns have the numbers of this key. */
  boolean fits() {
    for (int i = 0; i < size; i++) {
      if (columns[i].type().isInteger() && !columns[i].type().holds(numbers[i])) {
        return false;
      }
    }
    return true;
  }

  /** Returns the hash of the key's bytes. */
  long hash(long start) {
    return KeyHash.hash(bytes, 0, length, start);
  }

  /** Returns true if a row has this key. */
  boolean isOf(Cells row) {
    Memory memory = row.memory;
    for (int i = 0; i < columns.length; i++) {
      Column column = columns[i];
      if (column.type().isInteger()) {
        if (Values.integer(memory, column.type(), row.begin + column.at()) != numbers[i]) {
          return false;
        }
      } else {
        long begin = row.start(column.at());
        int count = ends[i] - begins[i];
        if (row.start(column.at() + 1) - begin != count || !memory.equal(begin, bytes, begins[i], count)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Compares this bound with the key of a row, by the columns that the bound has.
   *
   * @param isPrefix true if the last value is equal to all that begin with it
   */
  int compareTo(Cells row, boolean isPrefix) {
    Memory memory = row.memory;
    for (int i = 0; i < size; i++) {
      Column column = columns[i];
      int order;
      if (column.type().isInteger()) {
        long number = Values.integer(memory, column.type(), row.begin + column.at());
        order = column.type().isUnsigned() ? Long.compareUnsigned(numbers[i], number)
            : Long.compare(numbers[i], number);
      } else {
        long begin = row.start(column.at());
        long count = row.start(column.at() + 1) - begin;
        count = isPrefix && i == size - 1 ? Math.min(count, ends[i] - begins[i]) : count;
        order = -memory.compare(begin, count, bytes, begins[i], ends[i] - begins[i]);
      }
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  /** Returns the begin of the key, as the fences have it. The key has one value at least. */
  long begin() {
    Column first = columns[0];
    if (first.type().isInteger()) {
      return first.type().isUnsigned() || first.type() == Type.BOOL ? numbers[0] : numbers[0] ^ Long.MIN_VALUE;
    }
    int count = Math.min(8, ends[0] - begins[0]);
    if (count == 8) {
      return Long.reverseBytes(HeapBytes.getLong(bytes, begins[0]));
    }
    long begin = 0;
    for (int i = 0; i < count; i++) {
      begin |= (bytes[begins[0] + i] & 0xffL) << 56 - 8 * i;
    }
    return begin;
  }
}
