package org.yunti.table.memory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.channels.FileChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A mapping of more than 2 GB before Java 22, by {@code map0} of the JDK's file channel (Java 8 to 19). Regions that
 * became unreachable are unmapped when the next one is mapped: no thread waits for them.
 */
final class Region {
  private static final ReferenceQueue<Region> UNREACHABLE = new ReferenceQueue<>();
  private static final Set<Mapped> MAPPED = ConcurrentHashMap.newKeySet();

  final long address;

  private Region(long address) {
    this.address = address;
  }

  /** Returns the region, or null if this JDK gives no access. */
  static Region map(FileChannel channel, long bytes) {
    try {
      for (Mapped old; (old = (Mapped) UNREACHABLE.poll()) != null; ) {
        MAPPED.remove(old);
        int unused = (int) old.unmap.invokeExact(old.address, old.bytes);
      }
      MethodHandles.Lookup lookup = UnsafeMemory.trustedLookup();
      if (lookup == null) {
        return null;
      }
      Class<?> type = channel.getClass();
      MethodHandle unmap = lookup.findStatic(type, "unmap0",
          MethodType.methodType(int.class, long.class, long.class));
      Region region = new Region(address(lookup, channel, bytes));
      MAPPED.add(new Mapped(region, bytes, unmap));
      return region;
    } catch (Throwable e) {
      return null;
    }
  }

  private static long address(MethodHandles.Lookup lookup, FileChannel channel, long bytes) throws Throwable {
    // The number of a read-only mapping in FileChannelImpl is 0.
    MethodType before14 = MethodType.methodType(long.class, int.class, long.class, long.class);
    try {
      return (long) lookup.bind(channel, "map0", before14).invokeExact(0, 0L, bytes);
    } catch (NoSuchMethodException later) {
      MethodType since14 = before14.appendParameterTypes(boolean.class);
      return (long) lookup.bind(channel, "map0", since14).invokeExact(0, 0L, bytes, false);
    }
  }

  private static final class Mapped extends PhantomReference<Region> {
    final long address;
    final long bytes;
    final MethodHandle unmap;

    Mapped(Region region, long bytes, MethodHandle unmap) {
      super(region, UNREACHABLE);
      address = region.address;
      this.bytes = bytes;
      this.unmap = unmap;
    }
  }
}
