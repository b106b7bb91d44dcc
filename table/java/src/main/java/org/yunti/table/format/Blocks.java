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

  Blocks(Memory memory, String path, Place sums) {
    this.memory = memory;
    this.path = path;
    this.sums = sums;
    checked = new byte[Math.toIntExact(sums.bytes / 4)];
  }

  /** Checks the blocks of a range that the caller has checked against the file. */
  public void check(long begin, long end) {
    int first = (int) (begin >>> BITS);
    int last = (int) (end - 1 >>> BITS);
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
        checked[block] = 1;
      }
    }
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
