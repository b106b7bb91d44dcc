package org.yunti.hadoop.shuffle;

import java.io.IOException;

/** The native half of the shuffle (native_reduce_input.rs). A handle is used from {@code create} until {@code close}. */
final class NativeReduceInput {
  private NativeReduceInput() {}

  static native long create(
      int form,
      int codec,
      int level,
      int codecBuffer,
      boolean reversed,
      long memoryBytes,
      String[] directories,
      Object combiner)
      throws IOException;

  /** Begins a segment of {@code length} bytes, checksum counted in; returns its number. From any thread, as those that follow. */
  static native long begin(long handle, String name, long length, boolean onDisk) throws IOException;

  static native void append(long handle, long segment, byte[] bytes, int length) throws IOException;

  /** All of it came. Throws if it is not what its header and checksum say. */
  static native void seal(long handle, long segment) throws IOException;

  static native void commit(long handle, long segment) throws IOException;

  static native void abort(long handle, long segment) throws IOException;

  /** Merges what is in memory into a run on disk; returns the bytes that are free now. */
  static native long merge(long handle) throws IOException;

  /** All segments are there. */
  static native void open(long handle) throws IOException;

  /** The next records; 0 at the end; negative: the bytes that they need, and the next call gives them. */
  static native int next(long handle, byte[] into) throws IOException;

  /** Grows while there is progress. */
  static native long ticks(long handle) throws IOException;

  static native long spilledRecords(long handle) throws IOException;

  static native void close(long handle);
}
