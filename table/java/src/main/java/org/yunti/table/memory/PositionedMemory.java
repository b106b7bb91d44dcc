package org.yunti.table.memory;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Memory of a file that cannot be mapped, because another machine has it. It keeps the block that was read last: to
 * check a table reads its sections from front to back. Not for lookups, which would read a block each.
 */
public final class PositionedMemory extends Memory {
  private static final int BLOCK_BYTES = 1 << 16;

  private final PositionedBytes file;
  private final byte[] block;
  /** Position of the block; -1 before the first one. */
  private long begin = -1;

  public PositionedMemory(String name, long bytes, PositionedBytes file) {
    super(name, bytes);
    this.file = file;
    block = new byte[(int) Math.min(BLOCK_BYTES, bytes)];
  }

  @Override
  public byte getByte(long at) {
    check(at, 1);
    return block[within(at)];
  }

  @Override
  public short getShort(long at) {
    return (short) (getByte(at) & 0xff | getByte(at + 1) << 8);
  }

  @Override
  public int getInt(long at) {
    return getShort(at) & 0xffff | getShort(at + 2) << 16;
  }

  @Override
  public long getLong(long at) {
    return getInt(at) & 0xffff_ffffL | (long) getInt(at + 4) << 32;
  }

  @Override
  public void copy(long at, byte[] target, int offset, int length) {
    check(at, length);
    for (int done = 0; done < length; ) {
      int place = within(at + done);
      int step = Math.min(length - done, block.length - place);
      System.arraycopy(block, place, target, offset + done, step);
      done += step;
    }
  }

  /** Returns where a byte is in the block, which is read if it is another one. */
  private int within(long at) {
    long wanted = at / BLOCK_BYTES * BLOCK_BYTES;
    if (wanted != begin) {
      try {
        file.readFully(wanted, block, 0, (int) Math.min(block.length, bytes() - wanted));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      begin = wanted;
    }
    return (int) (at - begin);
  }

  @Override
  void release() {
    // The caller closes the file.
  }

  @Override
  public String kind() {
    return "positioned";
  }
}
