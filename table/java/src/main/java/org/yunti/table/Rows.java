package org.yunti.table;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Rows one after the other: all of a table, those of a key, or a range of keys. One pass, by one thread: either
 * {@link #next} moves a row of the caller and allocates nothing, or the iterator makes a Row for each.
 */
public abstract class Rows implements Iterable<Row> {
  protected Rows() {
  }

  /** Returns a row of this table, at no key yet. */
  protected abstract Row row();

  /** Moves a row of this table to the next one. Returns false at the end. */
  public abstract boolean next(Cells row);

  @Override
  public final Iterator<Row> iterator() {
    return new Iterator<Row>() {
      private Row ahead;

      @Override
      public boolean hasNext() {
        if (ahead == null) {
          Row row = row();
          if (Rows.this.next(row)) {
            row.readStarts();
            ahead = row;
          }
        }
        return ahead != null;
      }

      @Override
      public Row next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        Row row = ahead;
        ahead = null;
        return row;
      }
    };
  }

  /** Rows of a mapped file, slot by slot. */
  abstract static class OfSlots extends Rows {
    final SharedTable table;
    /** Begin of the next row in the slot, and the slot's end. */
    private long next;
    private long slotEnd;

    OfSlots(SharedTable table) {
      this.table = table;
    }

    /** Moves to the first row of the next slot. Returns false at the end. */
    abstract boolean nextSlot(Cells row);

    @Override
    protected final Row row() {
      return table.row();
    }

    @Override
    public final boolean next(Cells row) {
      table.requireOwn(row);
      try {
        if (next < slotEnd) {
          row.slotEnd = slotEnd;
          table.slots().moveTo(next, row);
        } else if (nextSlot(row)) {
          slotEnd = row.slotEnd;
        } else {
          return false;
        }
        next = row.end;
        return true;
      } catch (InternalError e) {
        throw table.file().cut(e);
      }
    }
  }

  /** Rows of all slots, in their order. */
  static final class All extends OfSlots {
    private final long slots;
    private long slot;

    All(SharedTable table) {
      super(table);
      slots = table.file().header.allSlots();
    }

    @Override
    boolean nextSlot(Cells row) {
      while (slot < slots) {
        long at = slot++;
        if (table.slots().isUsed(at) && table.slots().move(at, row)) {
          return true;
        }
      }
      return false;
    }
  }

  /** Rows of one key. */
  static final class OfKey extends OfSlots {
    private Row first;

    /** Begins with a row that a lookup found; null: there is none. */
    OfKey(SharedTable table, Row first) {
      super(table);
      this.first = first;
    }

    @Override
    boolean nextSlot(Cells row) {
      if (first == null) {
        return false;
      }
      row.moveTo(first);
      first = null;
      return true;
    }
  }

  /** Rows of a range of keys, in their order. */
  static final class Sorted extends OfSlots {
    private final Order order;
    private long at;
    private final long end;

    Sorted(SharedTable table, Order order, long begin, long end) {
      super(table);
      this.order = order;
      at = begin;
      this.end = end;
    }

    @Override
    boolean nextSlot(Cells row) {
      if (at >= end) {
        return false;
      }
      order.move(at++, row);
      return true;
    }
  }
}
