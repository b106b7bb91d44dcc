package org.yunti.table;

import org.yunti.table.memory.Memory;

/** The bytes of one value where they are in the file, for values too large to copy. Numbers are little-endian. */
public final class ByteRange {
  private final Memory memory;
  private final long begin;
  private final long size;

  ByteRange(Memory memory, long begin, long end) {
    this.memory = memory;
    this.begin = begin;
    size = end - begin;
  }

  public long size() {
    return size;
  }

  private long place(long at, int bytes) {
    if (at < 0 || at > size - bytes) {
      throw new IndexOutOfBoundsException(bytes + " bytes at " + at + " of " + size);
    }
    return begin + at;
  }

  public byte getByte(long at) {
    return memory.getByte(place(at, 1));
  }

  public short getShort(long at) {
    return memory.getShort(place(at, 2));
  }

  public int getInt(long at) {
    return memory.getInt(place(at, 4));
  }

  public long getLong(long at) {
    return memory.getLong(place(at, 8));
  }

  public void copy(long at, byte[] target, int offset, int length) {
    memory.copy(place(at, length), target, offset, length);
  }

  /** Returns true if the bytes at an offset are these. */
  public boolean equal(long at, byte[] bytes) {
    return at >= 0 && at <= size - bytes.length && memory.equal(begin + at, bytes, 0, bytes.length);
  }
}
