package org.yunti.table;

import org.yunti.table.format.Blocks;
import org.yunti.table.format.Header;
import org.yunti.table.format.Lengths;
import org.yunti.table.format.TableFile;
import org.yunti.table.memory.Memory;

/** The index of a table: from a hash to its slot, and from a slot to the bytes of its rows. */
final class Slots {
  private static final long STEP = 0x9E3779B97F4A7C15L;
  /** Slots of a group. */
  private static final int GROUP_BITS = 4;
  private static final int GROUP = 1 << GROUP_BITS;
  /** Fraction bits of the bytes of a slot on average. */
  private static final int ESTIMATE_BITS = 8;

  private final TableFile file;
  private final Memory memory;
  private final Blocks blocks;
  private final long parts;
  private final long buckets;
  private final long slots;
  private final long pilots;
  private final long used;
  private final long bases;
  private final long rows;
  private final long rowsBytes;
  private final long rowBytes;
  private final int endBytes;
  private final boolean hasSeveral;
  /** Bytes of a slot on average. */
  private final long rowEstimate;
  /** Result of {@link #touch}, without which the JIT would leave out its reads. */
  private byte touched;

  Slots(TableFile file) {
    this.file = file;
    memory = file.memory;
    blocks = file.blocks;
    Header header = file.header;
    parts = header.parts;
    buckets = header.buckets;
    slots = header.slots;
    pilots = header.pilots.begin;
    used = header.used.begin;
    bases = header.bases.begin;
    rows = header.rowsPlace.begin;
    rowsBytes = header.rowsPlace.bytes;
    rowBytes = header.rowBytes;
    endBytes = header.endBytes;
    hasSeveral = header.hasSeveral;
    long groups = header.bases.bytes / 8;
    rowEstimate = groups == 0 ? 0 : (Math.max(0, rowsBytes / groups - GROUP * endBytes) << ESTIMATE_BITS) / GROUP;
  }

  /** Returns where the pilot of a hash is. */
  long pilotAt(long hash) {
    return pilots + ((hash >>> 32) * parts >>> 32) * buckets + ((hash & 0xffff_ffffL) * buckets >>> 32);
  }

  /** Returns the slot of a hash. The table is not empty. */
  long slot(long hash) {
    return slot(hash, pilotAt(hash));
  }

  long slot(long hash, long pilotAt) {
    blocks.check(pilotAt, pilotAt + 1);
    int pilot = memory.getByte(pilotAt) & 0xff;
    long mixed = (hash ^ (pilot + 1) * STEP) * STEP;
    mixed = (mixed ^ mixed >>> 32) * STEP;
    return ((hash >>> 32) * parts >>> 32) * slots + ((mixed >>> 32) * slots >>> 32);
  }

  /** Returns where the first row of a slot may be: its group, or the row itself. */
  long near(long slot) {
    if (rowBytes != 0) {
      return rows + slot * rowBytes;
    }
    long at = bases + (slot >>> GROUP_BITS) * 8;
    blocks.check(at, at + 8);
    long base = memory.getLong(at);
    if (base < 0 || base > rowsBytes - GROUP * endBytes) {
      throw file.damaged("the group of the slot " + slot + " is outside of the rows");
    }
    return rows + base;
  }

  /** Reads the first bytes of many groups or rows, so that the processor fetches them side by side. */
  void touch(long[] near, int count) {
    byte sum = 0;
    for (int i = 0; i < count; i++) {
      blocks.check(near[i], near[i] + 1);
      sum ^= memory.getByte(near[i]);
    }
    touched = sum;
  }

  /** Moves to the first row of a slot. Returns false if it has none; a slot of equally long rows always has one. */
  boolean move(long slot, Cells row) {
    return move(slot, near(slot), row);
  }

  boolean move(long slot, long near, Cells row) {
    return rowBytes == 0 ? moveInGroup(slot, near, row) : moveToEqual(near, row);
  }

  private boolean moveToEqual(long near, Cells row) {
    long end = near + rowBytes;
    blocks.check(near, end);
    row.slotEnd = end;
    row.move(near, end);
    return true;
  }

  private boolean moveInGroup(long slot, long near, Cells row) {
    int in = (int) slot & GROUP - 1;
    long bytes = near + GROUP * endBytes;
    blocks.check(near, bytes);
    // Most rows are about here. The processor fetches this cache line beside the one of the ends, which say where the
    // row is.
    row.touched = memory.getByte(Math.min(bytes + (rowEstimate * in >>> ESTIMATE_BITS), rows + rowsBytes - 1));
    long to = end(near, in);
    // The first begins at 0. A branch would be mispredicted; the bytes before a group are there to read.
    long from = end(near, in - 1) & ~(in - 1 >> 31);
    if (from == to) {
      return false;
    }
    if (from > to || to > rows + rowsBytes - bytes) {
      throw file.damaged("the rows of the slot " + slot + " are outside of their section");
    }
    blocks.check(bytes + from, bytes + to);
    row.slotEnd = bytes + to;
    if (hasSeveral) {
      moveTo(bytes + from, row);
    } else {
      row.move(bytes + from, bytes + to);
    }
    return true;
  }

  private long end(long group, int in) {
    return endBytes == 2 ? memory.getShort(group + 2 * in) & 0xffff : memory.getInt(group + 4 * in) & 0xffff_ffffL;
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
