package org.yunti.table.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/** Memory by {@code java.lang.foreign}: Java 22 and later. Closing it unmaps the file at once. */
final class SegmentMemory extends Memory {
  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final MemorySegment segment;
  private final Arena arena;

  private SegmentMemory(String name, long bytes, Arena arena, MemorySegment segment) {
    super(name, bytes);
    this.arena = arena;
    this.segment = segment;
  }

  static SegmentMemory map(String name, FileChannel channel, long bytes) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      Object segment = FileChannel.class
          .getMethod("map", FileChannel.MapMode.class, long.class, long.class, Arena.class)
          .invoke(channel, FileChannel.MapMode.READ_ONLY, 0L, bytes, arena);
      return new SegmentMemory(name, bytes, arena, (MemorySegment) segment);
    } catch (InvocationTargetException e) {
      arena.close();
      if (e.getCause() instanceof IOException) {
        throw (IOException) e.getCause();
      }
      throw new IllegalStateException(e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("java.lang.foreign", e);
    }
  }

  @Override
  public byte getByte(long at) {
    check(at, 1);
    return segment.get(ValueLayout.JAVA_BYTE, at);
  }

  @Override
  public short getShort(long at) {
    check(at, 2);
    return segment.get(SHORT, at);
  }

  @Override
  public int getInt(long at) {
    check(at, 4);
    return segment.get(INT, at);
  }

  @Override
  public long getLong(long at) {
    check(at, 8);
    return segment.get(LONG, at);
  }

  @Override
  public void copy(long at, byte[] target, int offset, int length) {
    check(at, length);
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, target, offset, length);
  }

  @Override
  void release() {
    arena.close();
  }

  @Override
  public String kind() {
    return "foreign";
  }
}
