package org.yunti.table;

import java.util.Arrays;

import org.yunti.table.format.Dictionary;
import org.yunti.table.format.Lengths;
import org.yunti.table.format.Source;
import org.yunti.table.memory.Memory;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Layout;
import org.yunti.table.schema.Type;

/**
 * The values of one row or record: the base of {@link Row}, and of the classes that views of interfaces get at run
 * time. One thread at a time uses it, as a lookup moves it. All its methods have an argument, so that none is
 * overridden by a getter of a view.
 *
 * <pre>
 *   begin                           starts[0]                          starts[variables] = end
 *   bits | values of fixed width | lengths | first of variable length | next | ..
 * </pre>
 */
public abstract class Cells {
  private static final long[] NONE = new long[1];

  /** Bytes that have the row: the table's file; for a table client, the response that has this row. */
  Source source;
  Memory memory;
  final Layout layout;
  long begin;
  long end;
  /** End of the bytes of the slot, which may have more rows. */
  long slotEnd;
  /** Bytes of a row, at least. */
  private final int bytesMin;
  /** Begins of the values of variable length. */
  private final long[] starts;
  private boolean hasStarts;
  private Key scratch;

  protected Cells(Layout layout) {
    this.layout = layout;
    bytesMin = layout.fixedBytes() + layout.variables();
    starts = layout.variables() == 0 ? NONE : new long[layout.variables() + 1];
  }

  /** Returns a new object of this class for another row. */
  protected abstract Cells create(Source source);

  final void belongTo(Source source) {
    this.source = source;
    memory = source.memory;
  }

  /** Moves to a row of its source, whose bytes are checked. */
  final void move(long begin, long end) {
    if (end - begin < bytesMin) {
      throw source.damaged("a row of " + (end - begin) + " bytes at " + begin + " is too short");
    }
    this.begin = begin;
    this.end = end;
    hasStarts = false;
  }

  /** Moves to the bytes of a slot as if they were one row. */
  final void moveToSlot(long begin, long end) {
    slotEnd = end;
    move(begin, end);
  }

  /** Returns a key for the bytes of a lookup's text. */
  final Key scratch(Table table) {
    Key key = scratch;
    return key == null ? scratch = table.key() : key;
  }

  /** Moves to the row of another object. */
  final void moveTo(Cells other) {
    source = other.source;
    memory = other.memory;
    begin = other.begin;
    end = other.end;
    slotEnd = other.slotEnd;
    hasStarts = false;
  }

  /** Returns where a value of variable length begins; after the last one the row ends. */
  final long start(int variable) {
    if (!hasStarts) {
      readStarts();
    }
    return starts[variable];
  }

  /** Reads the lengths, so that other threads may read the row too. */
  final void readStarts() {
    int count = layout.variables();
    if (count > 0) {
      long at = Lengths.read(source, begin + layout.fixedBytes(), end, starts, count);
      if (at != end) {
        throw source.damaged("the lengths of the row at " + begin + " do not fit it");
      }
    }
    hasStarts = true;
  }

  final boolean isMissing(Column column) {
    int bit = column.nullBit();
    return bit >= 0 && (memory.getByte(begin + (bit >> 3)) >> (bit & 7) & 1) != 0;
  }

  final long valueBegin(Column column) {
    return column.type().width() == 0 ? start(column.at()) : begin + column.at();
  }

  final long valueEnd(Column column) {
    int width = column.type().width();
    return width == 0 ? start(column.at() + 1) : begin + column.at() + width;
  }

  // Getters of views call these with constants.

  protected final boolean boolAt(int offset) {
    return memory.getByte(begin + offset) != 0;
  }

  protected final byte i8At(int offset) {
    return memory.getByte(begin + offset);
  }

  protected final int u8At(int offset) {
    return memory.getByte(begin + offset) & 0xff;
  }

  protected final short i16At(int offset) {
    return memory.getShort(begin + offset);
  }

  protected final int u16At(int offset) {
    return memory.getShort(begin + offset) & 0xffff;
  }

  protected final int i32At(int offset) {
    return memory.getInt(begin + offset);
  }

  protected final long u32At(int offset) {
    return memory.getInt(begin + offset) & 0xffff_ffffL;
  }

  protected final long i64At(int offset) {
    return memory.getLong(begin + offset);
  }

  protected final float f32At(int offset) {
    return Float.intBitsToFloat(memory.getInt(begin + offset));
  }

  protected final double f64At(int offset) {
    return Double.longBitsToDouble(memory.getLong(begin + offset));
  }

  /** Returns a text of a column that is not nullable. */
  protected final String utf8At(int variable) {
    return Dictionary.text(memory, start(variable), start(variable + 1));
  }

  /** Returns what a value of a view's getter is: the getter's number is its reader's. */
  protected Object objectAt(int getter) {
    throw new IllegalStateException("getter " + getter);
  }

  /** Returns the value of a column as an object: see {@link Row#get(int)}. */
  final Object value(int number) {
    Column column = layout.column(number);
    return isMissing(column) ? null : Values.object(source, column, valueBegin(column), valueEnd(column));
  }

  /** Two are equal if they are of one class and all their values are equal. */
  @Override
  public boolean equals(Object other) {
    if (other == this) {
      return true;
    }
    if (other == null || other.getClass() != getClass() || ((Cells) other).layout.size() != layout.size()) {
      return false;
    }
    for (int i = 0; i < layout.size(); i++) {
      Object a = value(i);
      Object b = ((Cells) other).value(i);
      boolean equal = a instanceof byte[] && b instanceof byte[] ? Arrays.equals((byte[]) a, (byte[]) b)
          : a == null ? b == null : a.equals(b);
      if (!equal) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int i = 0; i < layout.size(); i++) {
      Object value = value(i);
      int of = value instanceof byte[] ? Arrays.hashCode((byte[]) value) : value == null ? 0 : value.hashCode();
      hash = 31 * hash + of;
    }
    return hash;
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder("{");
    for (int i = 0; i < layout.size(); i++) {
      Column column = layout.column(i);
      Object value = value(i);
      out.append(i == 0 ? "" : ", ").append(column.name()).append("=");
      out.append(value instanceof byte[] ? Arrays.toString((byte[]) value)
          : value instanceof Long && column.type() == Type.U64 ? Long.toUnsignedString((Long) value) : value);
    }
    return out.append("}").toString();
  }
}
