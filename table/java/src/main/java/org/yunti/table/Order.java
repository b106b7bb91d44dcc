package org.yunti.table;

import org.yunti.table.format.Header;
import org.yunti.table.format.TableFile;

/** The slots in the order of keys, with the begin of the key of each 64th. */
final class Order {
  private static final int FENCE_BITS = 6;

  private final TableFile file;
  private final Slots slots;
  private final Header header;
  private final int width;

  Order(TableFile file, Slots slots) {
    this.file = file;
    this.slots = slots;
    header = file.header;
    width = header.orderBytes();
  }

  long slot(long number) {
    long at = header.order.begin + number * width;
    file.blocks.check(at, at + width);
    long slot = width == 4 ? file.memory.getInt(at) & 0xffff_ffffL : file.memory.getLong(at);
    if (slot < 0 || slot >= header.allSlots()) {
      throw file.damaged("the order of keys has the slot " + slot + " of " + header.allSlots());
    }
    return slot;
  }

  /** Moves to the first row of the key with a number in the order. */
  void move(long number, Cells row) {
    long slot = slot(number);
    if (!slots.move(slot, row)) {
      throw file.damaged("the order of keys has the slot " + slot + ", which has no row");
    }
  }

  long fence(long number) {
    long at = header.fences.begin + number * 8;
    file.blocks.check(at, at + 8);
    return file.memory.getLong(at);
  }

  /**
   * Returns the number of the first key that is not before a bound, or that is behind all keys that begin with it.
   *
   * @param bound a key, or its first columns
   * @param isPrefix true if the last value of the bound stands for all that begin with it
   * @param isBehind true for the first key behind
   */
  long find(Key bound, boolean isPrefix, boolean isBehind, Cells row) {
    long low = 0;
    long high = header.keys;
    if (bound.size() > 0 && high > 0) {
      long begin = bound.begin();
      // Keys with a lesser begin are before the bound. Fences with an equal one decide nothing.
      long fences = header.fences.bytes / 8;
      low = Math.max(0, firstFence(0, fences, begin) - 1) << FENCE_BITS;
      if (!isBehind || !isPrefix) {
        long behind = firstFence(0, fences, begin + 1);
        high = begin == -1 || behind == fences ? high : behind << FENCE_BITS;
      }
    }
    while (low < high) {
      long middle = low + high >>> 1;
      move(middle, row);
      int order = bound.compareTo(row, isPrefix);
      // The bound is behind the key, or stands for it.
      if (order > 0 || order == 0 && isBehind) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns the first fence that is not before a begin; the number of fences if there is none. */
  private long firstFence(long low, long high, long begin) {
    while (low < high) {
      long middle = low + high >>> 1;
      if (Long.compareUnsigned(fence(middle), begin) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
