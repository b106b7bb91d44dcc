package org.yunti.table.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/** Memory by mapped buffers of 1 GB each, for a JVM that refuses Unsafe and has no {@code java.lang.foreign}. */
final class BufferMemory extends Memory {
  static final int CHUNK_BITS = 30;

  private final ByteBuffer[] chunks;
  private final int chunkBits;
  private final int mask;

  private BufferMemory(String name, long bytes, ByteBuffer[] chunks, int chunkBits) {
    super(name, bytes);
    this.chunks = chunks;
    this.chunkBits = chunkBits;
    mask = (1 << chunkBits) - 1;
  }

  static BufferMemory map(String name, FileChannel channel, long bytes, int chunkBits) throws IOException {
    int count = (int) ((bytes >>> chunkBits) + 1);
    ByteBuffer[] chunks = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      long begin = (long) i << chunkBits;
      chunks[i] = channel.map(FileChannel.MapMode.READ_ONLY, begin, Math.min(1L << chunkBits, bytes - begin))
          .order(ByteOrder.LITTLE_ENDIAN);
    }
    return new BufferMemory(name, bytes, chunks, chunkBits);
  }

  @Override
  public byte getByte(long at) {
    check(at, 1);
    return chunks[(int) (at >>> chunkBits)].get((int) at & mask);
  }

  @Override
  public short getShort(long at) {
    int in = (int) at & mask;
    if (in > mask - 1) {
      return (short) (getByte(at) & 0xff | getByte(at + 1) << 8);
    }
    check(at, 2);
    return chunks[(int) (at >>> chunkBits)].getShort(in);
  }

  @Override
  public int getInt(long at) {
    int in = (int) at & mask;
    if (in > mask - 3) {
      return getShort(at) & 0xffff | getShort(at + 2) << 16;
    }
    check(at, 4);
    return chunks[(int) (at >>> chunkBits)].getInt(in);
  }

  @Override
  public long getLong(long at) {
    int in = (int) at & mask;
    if (in > mask - 7) {
      return getInt(at) & 0xffff_ffffL | (long) getInt(at + 4) << 32;
    }
    check(at, 8);
    return chunks[(int) (at >>> chunkBits)].getLong(in);
  }

  @Override
  public void copy(long at, byte[] target, int offset, int length) {
    check(at, length);
    for (int done = 0; done < length; ) {
      int in = (int) (at + done) & mask;
      int step = Math.min(length - done, mask + 1 - in);
      ByteBuffer chunk = chunks[(int) ((at + done) >>> chunkBits)].duplicate();
      chunk.position(in);
      chunk.get(target, offset + done, step);
      done += step;
    }
  }

  @Override
  void release() {
    // The garbage collector unmaps the buffers.
  }

  @Override
  public String kind() {
    return "buffers";
  }
}
