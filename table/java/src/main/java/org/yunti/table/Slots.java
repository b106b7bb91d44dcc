package org.yunti.table;

import org.yunti.table.format.Blocks;
import org.yunti.table.format.Header;
import org.yunti.table.format.KeyHash;
import org.yunti.table.format.Lengths;
import org.yunti.table.format.Product;
import org.yunti.table.format.TableFile;
import org.yunti.table.memory.Memory;

/**
 * The index of a table: from a hash to its slot, and from a slot to the bytes of its rows.
 *
 * <pre>
 *   hash -> bucket -> pilot -> slot -> group (if rows have different lengths) -> row
 * </pre>
 *
 * <p>What has a parameter {@code isRight} checks the blocks that it reads if that is false. Lookups give a constant, so
 * that the JIT makes two methods of one: the fewer instructions a lookup has, the more of the next ones begin while it
 * waits for memory.
 */
final class Slots {
  /** Slots of a group. */
  private static final int GROUP_BITS = 4;
  private static final int GROUP = 1 << GROUP_BITS;

  private final TableFile file;
  private final Memory memory;
  private final Blocks blocks;
  /** Buckets of all parts, and what a bucket's number is shifted by to give its part. */
  private final long allBuckets;
  private final int partShift;
  private final long slots;
  private final long pilots;
  private final long used;
  private final long groups;
  private final int groupBytes;
  private final long rows;
  private final long rowsBytes;
  private final long rowBytes;
  private final boolean isShort;
  private final boolean hasSeveral;
  /** Result of {@link #touch}, without which the JIT would leave out its reads. */
  private byte touched;

  Slots(TableFile file) {
    this.file = file;
    memory = file.memory;
    blocks = file.blocks;
    Header header = file.header;
    allBuckets = header.parts * header.buckets;
    partShift = Long.numberOfTrailingZeros(header.buckets);
    slots = header.slots;
    pilots = header.pilots.begin;
    used = header.used.begin;
    groups = header.groups.begin;
    groupBytes = header.groupBytes();
    rows = header.rowsPlace.begin;
    rowsBytes = header.rowsPlace.bytes;
    rowBytes = header.rowBytes;
    isShort = header.endBytes == 2;
    hasSeveral = header.hasSeveral;
  }

  /** Moves to the first row of the slot of a hash. Returns false if it has none. The table is not empty. */
  boolean find(long hash, Cells row) {
    return blocks.isDone() ? move(slot(hash, bucket(hash), true), row, true)
        : move(slot(hash, bucket(hash), false), row, false);
  }

  /** Returns the number of a hash's bucket, of all parts. */
  long bucket(long hash) {
    return Product.high(hash, allBuckets);
  }

  /** Returns the slot of a hash. The table is not empty. */
  long slot(long hash) {
    return slot(hash, bucket(hash), false);
  }

  long slot(long hash, long bucket, boolean isRight) {
    long at = pilots + bucket;
    if (!isRight) {
      blocks.check(at, at + 1);
    }
    return (bucket >>> partShift) * slots + KeyHash.slot(hash, memory.getByte(at) & 0xff, slots);
  }

  /** Moves to the first row of a slot. Returns false if it has none; a slot of equally long rows always has one. */
  boolean move(long slot, Cells row) {
    return move(slot, row, false);
  }

  private boolean move(long slot, Cells row, boolean isRight) {
    if (!moveToAll(slot, row, isRight)) {
      return false;
    }
    if (!isRight) {
      blocks.check(row.begin, row.end);
    }
    moveToFirst(row);
    return true;
  }

  /**
   * Moves to the bytes of a slot, which are one row unless a key may have several, and are not checked. Returns false
   * if it has none.
   */
  boolean moveToAll(long slot, Cells row, boolean isRight) {
    if (rowBytes != 0) {
      long begin = rows + slot * rowBytes;
      row.moveToSlot(begin, begin + rowBytes);
      return true;
    }
    long group = groups + (slot >>> GROUP_BITS) * groupBytes;
    if (!isRight) {
      blocks.check(group, group + groupBytes);
    }
    long base = memory.getLong(group);
    int in = (int) slot & GROUP - 1;
    long from;
    long to;
    if (isShort) {
      // Two offsets at once: the begin and the end.
      int both = memory.getInt(group + 8 + 2 * in);
      from = both & 0xffff;
      to = both >>> 16;
    } else {
      long both = memory.getLong(group + 8 + 4 * in);
      from = both & 0xffff_ffffL;
      to = both >>> 32;
    }
    if (base < 0 || from > to || to > rowsBytes - base) {
      throw file.damaged("the rows of the slot " + slot + " are outside of their section");
    }
    if (from == to) {
      return false;
    }
    row.moveToSlot(rows + base + from, rows + base + to);
    return true;
  }

  /** Moves from the bytes of a slot, which are checked, to the first row in them. */
  void moveToFirst(Cells row) {
    if (hasSeveral) {
      moveTo(row.begin, row);
    }
  }

  /** Moves to a row with its length before it, in the slot of this row. */
  void moveTo(long at, Cells row) {
    long length = Lengths.length(file, at, row.slotEnd);
    long begin = at + Lengths.bytes(memory, at);
    if (length > row.slotEnd - begin) {
      throw file.damaged("the row at " + begin + " is longer than its slot");
    }
    row.move(begin, begin + length);
  }

  /** Returns true once all that lookups read is known to be right. */
  boolean isRight() {
    return blocks.isDone();
  }

  /** Reads the first and last bytes of many slots, so that the processor fetches them side by side. -1 is none. */
  void touch(long[] begins, long[] ends, int count, boolean isRight) {
    byte sum = 0;
    for (int i = 0; i < count; i++) {
      if (begins[i] >= 0) {
        if (!isRight) {
          blocks.check(begins[i], ends[i]);
        }
        sum ^= memory.getByte(begins[i]) ^ memory.getByte(ends[i] - 1);
      }
    }
    touched = sum;
  }

  /** Returns true if a slot has rows. */
  boolean isUsed(long slot) {
    if (rowBytes == 0) {
      return true;
    }
    long at = used + (slot >>> 3);
    blocks.check(at, at + 1);
    return (memory.getByte(at) >> (slot & 7) & 1) != 0;
  }
}
