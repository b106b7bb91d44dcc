package org.yunti.table.format;

import org.yunti.table.memory.Memory;

/** Lengths in LEB128, of at most 5 bytes. */
public final class Lengths {
  private static final int BYTES_MAX = 5;

  private Lengths() {
  }

  /**
   * Reads lengths, and writes the begins of the values behind them and the end of the last.
   *
   * @return the end of the last; the caller compares it with the row's
   */
  public static long read(Source source, long at, long end, long[] starts, int count) {
    Memory memory = source.memory;
    for (int i = 1; i <= count; i++) {
      int first = at < end ? memory.getByte(at) : -1;
      if (first >= 0) {
        // Nearly all have one byte, which is read once.
        starts[i] = first;
        at++;
      } else {
        starts[i] = length(source, at, end);
        at += bytes(memory, at);
      }
    }
    starts[0] = at;
    for (int i = 1; i <= count; i++) {
      at += starts[i];
      starts[i] = at;
    }
    return at;
  }

  /** Returns a length. */
  public static long length(Source source, long at, long end) {
    if (at >= end) {
      throw source.damaged("a length at " + at + " is behind its row");
    }
    int first = source.memory.getByte(at);
    return first >= 0 ? first : longer(source, at, end);
  }

  private static long longer(Source source, long at, long end) {
    long length = 0;
    for (int i = 0; i < BYTES_MAX && at + i < end; i++) {
      int part = source.memory.getByte(at + i);
      length |= (part & 0x7fL) << 7 * i;
      if (part >= 0) {
        return length;
      }
    }
    throw source.damaged("a length at " + at + " does not end");
  }

  /** Returns the bytes of a length that was read. */
  public static int bytes(Memory memory, long at) {
    int i = 0;
    while (memory.getByte(at + i) < 0) {
      i++;
    }
    return i + 1;
  }
}
