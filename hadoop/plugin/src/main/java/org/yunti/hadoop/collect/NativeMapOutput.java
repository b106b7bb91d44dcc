package org.yunti.hadoop.collect;

import java.io.IOException;

/** Native half of the collector (native_map_output.rs). A handle is valid from {@code create} until {@code close}. */
final class NativeMapOutput {
  /** Indices of the numbers before the segments in the result of {@code finish}. */
  static final int SPILLS = 0;

  static final int SPILLED_RECORDS = 1;
  static final int SUMMED_RECORDS = 2;
  /** Nanoseconds that calls of {@code put} spent on spills, and the last spill in {@code finish}. */
  static final int SPILL_NS = 3;

  static final int LAST_SPILL_NS = 4;
  static final int SEGMENTS = 5;

  private NativeMapOutput() {}

  static native long create(
      int partitions,
      int form,
      int codec,
      int level,
      int codecBuffer,
      long memoryBytes,
      String[] directories,
      int combineSpillsMin,
      int values,
      Object combiner,
      Object comparator)
      throws IOException;

  /** Returns the capacity of a batch in bytes. */
  static native int batchBytes(long handle) throws IOException;

  static native void put(long handle, byte[] records, int length, int[] partitions, int count) throws IOException;

  static native void putBig(long handle, byte[] record, int from, int keyLength, int valueLength, int partition)
      throws IOException;

  /** Returns a number that grows while there is progress. Any thread may call it. */
  static native long ticks(long handle) throws IOException;

  /** Returns new lines for the task's log, one for each finished spill and merge; empty if there are none. */
  static native String log(long handle) throws IOException;

  /**
   * Writes the output file. Returns the numbers above, then start, raw length and file length of each partition, in
   * bytes.
   */
  static native long[] finish(long handle, String path) throws IOException;

  static native void close(long handle);
}
