package org.yunti.table;

import java.util.AbstractList;

import org.yunti.table.format.Lengths;
import org.yunti.table.format.Source;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Type;

/**
 * A list in a row. As a {@link java.util.List} it has objects like {@link Row#get(int)}; its getters for one type each
 * make none. It stays at its row when the Row that returned it moves.
 *
 * <pre>
 *   count, LEB128 | a bit for each, if they may be missing | values of fixed width, or lengths and bytes
 * </pre>
 */
public final class Elements extends AbstractList<Object> {
  private final Source source;
  private final Column element;
  private final int size;
  /** Begin of the bits. */
  private final long bits;
  /** Begin of values of fixed width. */
  private final long values;
  private final int width;
  /** Begins of values of variable length, or null. */
  private final long[] starts;

  Elements(Source source, Column element, long begin, long end) {
    this.source = source;
    this.element = element;
    long count = Lengths.length(source, begin, end);
    bits = begin + Lengths.bytes(source.memory, begin);
    width = element.type().width();
    values = bits + (element.isNullable() ? count + 7 >>> 3 : 0);
    // An element has one byte at least, which bounds the array below.
    if (count > Integer.MAX_VALUE - 8 || count * Math.max(width, 1) > end - values) {
      throw source.damaged("the list at " + begin + " has more elements than bytes");
    }
    size = (int) count;
    starts = width == 0 ? new long[size + 1] : null;
    long last = width == 0 ? Lengths.read(source, values, end, starts, size) : values + count * width;
    if (last != end) {
      throw source.damaged("the elements of the list at " + begin + " do not fit it");
    }
  }

  /** Returns the column of the elements: their type. */
  public Column element() {
    return element;
  }

  @Override
  public int size() {
    return size;
  }

  private void check(int i) {
    if (i < 0 || i >= size) {
      throw new IndexOutOfBoundsException("element " + i + " of " + size);
    }
  }

  long valueBegin(int i) {
    check(i);
    return starts == null ? values + (long) i * width : starts[i];
  }

  long valueEnd(int i) {
    return starts == null ? valueBegin(i) + width : starts[i + 1];
  }

  Source source() {
    return source;
  }

  public boolean isNull(int i) {
    check(i);
    return element.isNullable() && (source.memory.getByte(bits + (i >> 3)) >> (i & 7) & 1) != 0;
  }

  /** Returns an integer, as {@link Row#getLong(int)}. */
  public long getLong(int i) {
    return Values.integer(source.memory, element.type(), valueBegin(i));
  }

  public int getInt(int i) {
    return Math.toIntExact(getLong(i));
  }

  public boolean getBoolean(int i) {
    Values.require(element, Type.BOOL);
    return getLong(i) != 0;
  }

  public double getDouble(int i) {
    return Values.real(source.memory, element.type(), valueBegin(i));
  }

  public String getUtf8(int i) {
    return isNull(i) ? null : Values.text(source, element, valueBegin(i), valueEnd(i));
  }

  public byte[] getBytes(int i) {
    return isNull(i) ? null : Values.bytes(source, element, valueBegin(i), valueEnd(i));
  }

  public Row getRecord(int i) {
    return isNull(i) ? null : Values.record(source, element, valueBegin(i), valueEnd(i));
  }

  public Elements getList(int i) {
    return isNull(i) ? null : Values.list(source, element, valueBegin(i), valueEnd(i));
  }

  @Override
  public Object get(int i) {
    return isNull(i) ? null : Values.object(source, element, valueBegin(i), valueEnd(i));
  }
}
