package org.yunti.hadoop.shuffle;

import java.io.IOException;

/** Native half of the shuffle (native_reduce_input.rs). A handle is valid from {@code create} until {@code close}. */
final class NativeReduceInput {
  private NativeReduceInput() {}

  static native long create(
      int form,
      int codec,
      int level,
      int codecBuffer,
      boolean reversed,
      boolean apart,
      long memoryBytes,
      String[] directories,
      Object combiner,
      Object comparator,
      Object normals)
      throws IOException;

  /**
   * Begins a segment of {@code length} bytes, including its checksum; returns its number. Any thread may call this and
   * the methods below.
   */
  static native long begin(long handle, String name, long length, boolean onDisk) throws IOException;

  /** Adds {@code length} bytes, including their checksum, from {@code offset} of a map's file on this machine. */
  static native void addMapFile(long handle, String name, String path, long offset, long length) throws IOException;

  static native void append(long handle, long segment, byte[] bytes, int length) throws IOException;

  /** Ends a complete segment. Throws if it does not match its header and checksum. */
  static native void seal(long handle, long segment) throws IOException;

  static native void commit(long handle, long segment) throws IOException;

  static native void abort(long handle, long segment) throws IOException;

  /** Merges the segments in memory into a run on disk; returns the number of freed bytes. */
  static native long merge(long handle) throws IOException;

  /** Opens the merge after all segments have arrived. */
  static native void open(long handle) throws IOException;

  /**
   * Writes the next records into {@code into}. Returns the number of bytes, 0 at the end, or the negated size that the
   * next call needs.
   */
  static native int next(long handle, byte[] into) throws IOException;

  /** Returns a number that grows while there is progress. */
  static native long ticks(long handle) throws IOException;

  /** Returns new lines for the task's log, one for each finished merge; empty if there are none. */
  static native String log(long handle) throws IOException;

  static native long spilledRecords(long handle) throws IOException;

  static native void close(long handle);
}
