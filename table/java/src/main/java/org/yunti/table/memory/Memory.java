package org.yunti.table.memory;

import org.yunti.table.TableException;

/**
 * The bytes of a mapped file. All numbers in it are little-endian; offsets count from its begin.
 *
 * <p>A JVM loads one subclass as a rule, so that the JIT inlines its methods without a check of the class. Each method
 * checks its offset against {@link #limit}, which {@link #close} sets to -1: a closed file needs no check of its own.
 */
public abstract class Memory {
  private static final long CLOSED = -1;

  final String name;
  /** Bytes of the file; -1 if it is closed. Not volatile: memory is unmapped only when nothing can read it. */
  long limit;

  Memory(String name, long bytes) {
    this.name = name;
    limit = bytes;
  }

  public abstract byte getByte(long at);

  public abstract short getShort(long at);

  public abstract int getInt(long at);

  public abstract long getLong(long at);

  /** Copies bytes into an array. A file that was cut gives an InternalError here, not the end of the JVM. */
  public abstract void copy(long at, byte[] target, int offset, int length);

  /** Gives the memory back, or lets the garbage collector do so. */
  abstract void release();

  /** Returns what reads the bytes, for messages and tests. */
  public abstract String kind();

  public final void close() {
    if (limit != CLOSED) {
      limit = CLOSED;
      release();
    }
  }

  public final boolean isClosed() {
    return limit == CLOSED;
  }

  public final long bytes() {
    return limit;
  }

  final void check(long at, long bytes) {
    if (at < 0 || at > limit - bytes) {
      throw outside(at, bytes);
    }
  }

  private RuntimeException outside(long at, long bytes) {
    if (limit == CLOSED) {
      return new IllegalStateException("the table " + name + " is closed");
    }
    return new TableException(name + ": the table is damaged: it refers to " + bytes + " bytes at " + at + " of "
        + limit + "; build it again");
  }

  /** Returns true if the bytes at an offset are these. */
  public final boolean equal(long at, byte[] bytes, int offset, int length) {
    int i = 0;
    for (; i <= length - 8; i += 8) {
      if (getLong(at + i) != HeapBytes.getLong(bytes, offset + i)) {
        return false;
      }
    }
    if (i <= length - 4) {
      if (getInt(at + i) != HeapBytes.getInt(bytes, offset + i)) {
        return false;
      }
      i += 4;
    }
    for (; i < length; i++) {
      if (getByte(at + i) != bytes[offset + i]) {
        return false;
      }
    }
    return true;
  }

  /** Compares bytes here with bytes of an array, as unsigned; a shorter value is before what it is the begin of. */
  public final int compare(long at, long bytes, byte[] other, int offset, int length) {
    int shorter = (int) Math.min(bytes, length);
    int i = 0;
    for (; i <= shorter - 8; i += 8) {
      long a = getLong(at + i);
      long b = HeapBytes.getLong(other, offset + i);
      if (a != b) {
        return Long.compareUnsigned(Long.reverseBytes(a), Long.reverseBytes(b));
      }
    }
    for (; i < shorter; i++) {
      int order = Integer.compare(getByte(at + i) & 0xff, other[offset + i] & 0xff);
      if (order != 0) {
        return order;
      }
    }
    return Long.compare(bytes, length);
  }
}
