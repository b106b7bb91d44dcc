package org.yunti.table.memory;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A way to read a mapped file. */
public enum Access {
  /** The fastest one that the JVM offers. */
  BEST,
  /** {@code java.lang.foreign}: Java 22 and later. */
  FOREIGN,
  /** {@code sun.misc.Unsafe}: all versions; Java 24 and later warn. */
  UNSAFE,
  /** Like UNSAFE, with the mapping that files over 2 GB need before Java 22: Java 8 to 19. */
  UNSAFE_REGION,
  /** Mapped buffers of 1 GB: all versions. */
  BUFFERS,
  /** Like BUFFERS, of 64 KiB: shows in tests that values across two buffers are right. */
  SMALL_BUFFERS;

  private static final int SMALL_BITS = 16;

  /** Maps a file of at least one byte. */
  public Memory map(Path path) throws IOException {
    String name = path.toString();
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long bytes = channel.size();
      switch (this) {
        case SMALL_BUFFERS:
          return BufferMemory.map(name, channel, bytes, SMALL_BITS);
        case BUFFERS:
          return BufferMemory.map(name, channel, bytes, BufferMemory.CHUNK_BITS);
        case FOREIGN:
          return needed(foreign(name, channel, bytes));
        case UNSAFE:
        case UNSAFE_REGION:
          return needed(unsafe(name, channel, bytes));
        default:
          Memory memory = foreign(name, channel, bytes);
          memory = memory == null ? unsafe(name, channel, bytes) : memory;
          return memory == null ? BufferMemory.map(name, channel, bytes, BufferMemory.CHUNK_BITS) : memory;
      }
    }
  }

  private Memory needed(Memory memory) {
    if (memory == null) {
      throw new UnsupportedOperationException("Java " + System.getProperty("java.version") + " has no access " + this);
    }
    return memory;
  }

  private static Memory foreign(String name, FileChannel channel, long bytes) throws IOException {
    // Java 19 to 21 have other signatures, as a preview.
    if (version() < 22) {
      return null;
    }
    try {
      return SegmentMemory.map(name, channel, bytes);
    } catch (LinkageError e) {
      return null;
    }
  }

  private Memory unsafe(String name, FileChannel channel, long bytes) throws IOException {
    try {
      return UnsafeMemory.map(name, channel, bytes, this == UNSAFE_REGION);
    } catch (LinkageError e) {
      return null;
    }
  }

  private static int version() {
    String version = System.getProperty("java.specification.version", "1.8");
    return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
  }
}
