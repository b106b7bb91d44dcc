package org.yunti.table;

import java.nio.ByteBuffer;

import org.yunti.table.format.Dictionary;
import org.yunti.table.format.Source;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Layout;
import org.yunti.table.schema.Type;

/**
 * A row of a table, or a record in one. Its getters read the file's bytes, and throw IllegalStateException once the
 * table is closed. A row of {@link org.yunti.table.client.TableClient} is a copy, which outlives the client.
 *
 * <p>{@link Table#find(long, Cells)} moves a row to another key without allocation; one thread at a time uses
 * such a row. Rows that {@code get} returned do not move, and any thread may read them.
 *
 * <p>Columns have numbers, which {@link Table#column} finds once, or names. A missing number or truth value is
 * read as 0 or false ({@link #isNull(int)} tells it apart), a missing other value as null.
 */
public final class Row extends Cells {
  Row(Source source, Layout layout) {
    super(layout);
    belongTo(source);
  }

  @Override
  protected Cells create(Source source) {
    return new Row(source, layout);
  }

  /** Returns the columns, or the fields of a record. */
  public Layout layout() {
    return layout;
  }

  /** Returns the number of a column. */
  public int column(String name) {
    return layout.column(name);
  }

  public boolean isNull(int column) {
    return isMissing(layout.column(column));
  }

  public boolean isNull(String name) {
    return isNull(layout.column(name));
  }

  /** Returns an integer; {@code u64} as its 64 bits ({@link Long#toUnsignedString(long)}), {@code bool} as 0 or 1. */
  public long getLong(int column) {
    Column of = layout.column(column);
    return Values.integer(memory, of.type(), begin + of.at());
  }

  public long getLong(String name) {
    return getLong(layout.column(name));
  }

  /** Returns an integer, or throws ArithmeticException if it has more than 32 bits. */
  public int getInt(int column) {
    return Math.toIntExact(getLong(column));
  }

  public int getInt(String name) {
    return getInt(layout.column(name));
  }

  public boolean getBoolean(int column) {
    Column of = layout.column(column);
    Values.require(of, Type.BOOL);
    return boolAt(of.at());
  }

  public boolean getBoolean(String name) {
    return getBoolean(layout.column(name));
  }

  /** Returns an {@code f64} or {@code f32}. */
  public double getDouble(int column) {
    Column of = layout.column(column);
    return Values.real(memory, of.type(), begin + of.at());
  }

  public double getDouble(String name) {
    return getDouble(layout.column(name));
  }

  /** Returns an {@code f32}. */
  public float getFloat(int column) {
    Column of = layout.column(column);
    Values.require(of, Type.F32);
    return f32At(of.at());
  }

  public float getFloat(String name) {
    return getFloat(layout.column(name));
  }

  /** Returns the text of a {@code utf8} or {@code dict}, or null. */
  public String getUtf8(int column) {
    Column of = layout.column(column);
    return isMissing(of) ? null : Values.text(source, of, valueBegin(of), valueEnd(of));
  }

  public String getUtf8(String name) {
    return getUtf8(layout.column(name));
  }

  /** Returns a copy of the bytes of a {@code bytes}, {@code utf8} or {@code dict}, or null. */
  public byte[] getBytes(int column) {
    Column of = layout.column(column);
    return isMissing(of) ? null : Values.bytes(source, of, valueBegin(of), valueEnd(of));
  }

  public byte[] getBytes(String name) {
    return getBytes(layout.column(name));
  }

  /** Returns the bytes of a {@code bytes}, {@code utf8} or {@code dict}; 0 if it is missing. */
  public int byteLength(int column) {
    Column of = layout.column(column);
    return Math.toIntExact(bytesEnd(of) - bytesBegin(of));
  }

  /**
   * Copies the bytes of a {@code bytes}, {@code utf8} or {@code dict} into an array.
   *
   * @return their number, 0 if the value is missing
   * @throws IndexOutOfBoundsException if the array has less room
   */
  public int copyBytes(int column, byte[] target, int offset) {
    Column of = layout.column(column);
    long from = bytesBegin(of);
    int length = Math.toIntExact(bytesEnd(of) - from);
    memory.copy(from, target, offset, length);
    return length;
  }

  /** Copies the bytes of a value to a buffer's position, and moves it. The buffer is on the heap, or direct. */
  public int copyBytes(int column, ByteBuffer target) {
    if (target.hasArray()) {
      Column of = layout.column(column);
      long from = bytesBegin(of);
      int length = Math.toIntExact(bytesEnd(of) - from);
      if (length > target.remaining()) {
        throw new java.nio.BufferOverflowException();
      }
      memory.copy(from, target.array(), target.arrayOffset() + target.position(), length);
      target.position(target.position() + length);
      return length;
    }
    byte[] bytes = getBytes(column);
    if (bytes == null) {
      return 0;
    }
    target.put(bytes);
    return bytes.length;
  }

  /** Returns the bytes of a {@code bytes} or {@code utf8} where they are, or null. They stay when this row moves. */
  public ByteRange getRange(int column) {
    Column of = layout.column(column);
    Values.requireBytes(of);
    return isMissing(of) ? null : new ByteRange(memory, valueBegin(of), valueEnd(of));
  }

  private long bytesBegin(Column of) {
    if (of.type() == Type.DICT) {
      return isMissing(of) ? 0 : source.dictionary(of).begin(i32At(of.at()));
    }
    Values.requireBytes(of);
    return start(of.at());
  }

  private long bytesEnd(Column of) {
    if (of.type() == Type.DICT) {
      Dictionary dictionary = source.dictionary(of);
      return isMissing(of) ? 0 : dictionary.end(i32At(of.at()));
    }
    return start(of.at() + 1);
  }

  /** Returns a record, or null. */
  public Row getRecord(int column) {
    Column of = layout.column(column);
    return isMissing(of) ? null : Values.record(source, of, valueBegin(of), valueEnd(of));
  }

  public Row getRecord(String name) {
    return getRecord(layout.column(name));
  }

  /** Moves a row that {@link #getRecord(int)} returned for this column. Returns false if the record is missing. */
  public boolean findRecord(int column, Row record) {
    Column of = layout.column(column);
    Values.require(of, Type.RECORD);
    if (record.layout != of.fields()) {
      throw new IllegalArgumentException("the row is no record of the column " + of.name());
    }
    if (isMissing(of)) {
      return false;
    }
    record.belongTo(source);
    record.move(valueBegin(of), valueEnd(of));
    return true;
  }

  /** Returns a list, or null. */
  public Elements getList(int column) {
    Column of = layout.column(column);
    return isMissing(of) ? null : Values.list(source, of, valueBegin(of), valueEnd(of));
  }

  public Elements getList(String name) {
    return getList(layout.column(name));
  }

  /** Returns any value: Boolean, Long, Float, Double, String, byte[], Row, Elements, or null. */
  public Object get(int column) {
    return value(column);
  }

  public Object get(String name) {
    return value(layout.column(name));
  }
}
