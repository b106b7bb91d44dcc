package org.yunti.table.format;

import java.util.zip.Checksum;

import org.yunti.table.TableException;
import org.yunti.table.memory.Memory;

/**
 * Sums of the blocks of 64 KiB, each checked before its first byte is used. A byte for each block remembers the check:
 * threads that race check a block twice at most, and no update is lost, as one of bits would be.
 */
public final class Blocks {
  private static final int BITS = 16;
  /** Bytes that are copied and summed at once: instructions for sums in mapped memory would not survive a cut file. */
  private static final int STEP_BYTES = 8192;

  private final Memory memory;
  private final String path;
  private final Place sums;
  private final byte[] checked;
  /** Sections that lookups read, in the order of the file. */
  private final Place[] lookups;
  /** Blocks of these that are not known to be right. */
  private int left;
  /** Not volatile: the bytes do not change, so that it does not matter which thread sees it when. */
  private boolean isDone;

  /** Notes blocks of which none is checked. */
  Blocks(Memory memory, String path, Place sums, Place... lookups) {
    this.memory = memory;
    this.path = path;
    this.sums = sums;
    this.lookups = lookups;
    checked = new byte[Math.toIntExact(sums.bytes / 4)];
    int behind = 0;
    for (Place place : lookups) {
      if (place.bytes > 0) {
        // The first block may be the last one of the section before.
        int end = last(place.end()) + 1;
        left += end - Math.max(behind, first(place.begin));
        behind = end;
      }
    }
    isDone = left == 0;
  }

  private static int first(long begin) {
    return (int) (begin >>> BITS);
  }

  private static int last(long end) {
    return (int) (end - 1 >>> BITS);
  }

  /** Returns true once all that lookups read is known to be right, so that they need no further check. */
  public boolean isDone() {
    return isDone;
  }

  /** Checks the blocks of a range that the caller has checked against the file. */
  public void check(long begin, long end) {
    int first = first(begin);
    int last = last(end);
    if (checked[first] == 0 || last != first && !all(first + 1, last)) {
      checkAll(first, last);
    }
  }

  private boolean all(int first, int last) {
    for (int block = first; block <= last; block++) {
      if (checked[block] == 0) {
        return false;
      }
    }
    return true;
  }

  private void checkAll(int first, int last) {
    Checksum sum = Crc32c.create();
    byte[] bytes = new byte[STEP_BYTES];
    for (int block = first; block <= last; block++) {
      if (checked[block] == 0) {
        checkOne(block, sum, bytes);
        mark(block);
      }
    }
  }

  /** Alone, so that each block counts once. */
  private synchronized void mark(int block) {
    if (checked[block] == 0) {
      checked[block] = 1;
      left -= isOfLookups(block) ? 1 : 0;
      isDone = left == 0;
    }
  }

  private boolean isOfLookups(int block) {
    for (Place place : lookups) {
      if (place.bytes > 0 && first(place.begin) <= block && block <= last(place.end())) {
        return true;
      }
    }
    return false;
  }

  private void checkOne(int block, Checksum sum, byte[] bytes) {
    long begin = (long) block << BITS;
    long end = Math.min(begin + (1 << BITS), sums.begin);
    sum.reset();
    for (long at = begin; at < end; at += STEP_BYTES) {
      int step = (int) Math.min(STEP_BYTES, end - at);
      memory.copy(at, bytes, 0, step);
      sum.update(bytes, 0, step);
    }
    if ((int) sum.getValue() != memory.getInt(sums.begin + 4L * block)) {
      throw new TableException(path + ": the table is damaged: the checksum of the bytes " + begin + " to " + end
          + " is wrong; build it again");
    }
  }

  /** Checks all blocks. */
  public void checkAll() {
    checkAll(0, checked.length - 1);
  }
}
