package org.yunti.table.memory;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

import sun.misc.Unsafe;

/**
 * Memory by {@code sun.misc.Unsafe}: before Java 22. The file stays mapped until the garbage collector finds that
 * nothing refers to this object, so that a read beside {@link #close} cannot end the JVM.
 */
final class UnsafeMemory extends Memory {
  private static final Unsafe UNSAFE = unsafe();
  private static final long ARRAY_BASE = UNSAFE.arrayBaseOffset(byte[].class);
  /** Machines whose loads need no alignment. */
  private static final boolean SUITS = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
      && System.getProperty("os.arch", "").matches("amd64|x86_64|i386|x86|aarch64|riscv64");
  /** {@code Reference.reachabilityFence} of Java 9. Java 8 keeps what a method has as its receiver. */
  private static final MethodHandle FENCE = fence();

  private final long address;
  /** A buffer or region that unmaps the file when it is unreachable. */
  private final Object owner;

  private UnsafeMemory(String name, long bytes, long address, Object owner) {
    super(name, bytes);
    this.address = address;
    this.owner = owner;
  }

  /** Maps a file whole. A file of 2 GB or more needs methods that the JDK hides; without them the result is null. */
  static UnsafeMemory map(String name, FileChannel channel, long bytes, boolean asRegion) throws IOException {
    if (!SUITS) {
      return null;
    }
    if (asRegion || bytes > Integer.MAX_VALUE) {
      Region region = Region.map(channel, bytes);
      return region == null ? null : new UnsafeMemory(name, bytes, region.address, region);
    }
    Buffer buffer = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes);
    long address;
    try {
      address = UNSAFE.getLong(buffer, UNSAFE.objectFieldOffset(Buffer.class.getDeclaredField("address")));
    } catch (NoSuchFieldException | RuntimeException e) {
      return null;
    }
    return new UnsafeMemory(name, bytes, address, buffer);
  }

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("sun.misc.Unsafe", e);
    }
  }

  private static MethodHandle fence() {
    try {
      return MethodHandles.publicLookup().unreflect(
          Class.forName("java.lang.ref.Reference").getMethod("reachabilityFence", Object.class));
    } catch (ReflectiveOperationException before9) {
      return null;
    }
  }

  /** Returns a lookup that sees hidden methods of the JDK, or null. */
  static MethodHandles.Lookup trustedLookup() {
    try {
      Field field = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
      return (MethodHandles.Lookup) UNSAFE.getObject(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field));
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  static FileDescriptor descriptor(FileChannel channel) throws ReflectiveOperationException {
    Field field = channel.getClass().getDeclaredField("fd");
    return (FileDescriptor) UNSAFE.getObject(channel, UNSAFE.objectFieldOffset(field));
  }

  @Override
  public byte getByte(long at) {
    check(at, 1);
    return UNSAFE.getByte(address + at);
  }

  @Override
  public short getShort(long at) {
    check(at, 2);
    return UNSAFE.getShort(address + at);
  }

  @Override
  public int getInt(long at) {
    check(at, 4);
    return UNSAFE.getInt(address + at);
  }

  @Override
  public long getLong(long at) {
    check(at, 8);
    return UNSAFE.getLong(address + at);
  }

  @Override
  public void copy(long at, byte[] target, int offset, int length) {
    check(at, length);
    if (offset < 0 || length < 0 || offset > target.length - length) {
      throw new IndexOutOfBoundsException(length + " bytes at " + offset + " of an array of " + target.length);
    }
    UNSAFE.copyMemory(null, address + at, target, ARRAY_BASE + offset, length);
    keep();
  }

  /** Keeps the mapping until here. */
  private void keep() {
    if (FENCE != null) {
      try {
        FENCE.invokeExact(owner);
      } catch (Throwable e) {
        throw new AssertionError(e);
      }
    }
  }

  @Override
  void release() {
    // The owner unmaps the file.
  }

  @Override
  public String kind() {
    return owner instanceof Region ? "unsafe, region" : "unsafe";
  }
}
