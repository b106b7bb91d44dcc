package org.yunti.hadoop.collect;

import java.io.IOException;

/** The native half of the collector (native_map_output.rs). A handle is used from {@code create} until {@code close}. */
final class NativeMapOutput {
  /** Numbers before the segments in what {@code finish} returns. */
  static final int SPILLS = 0;

  static final int SPILLED_RECORDS = 1;
  static final int SUMMED_RECORDS = 2;
  /** Time that the calls of {@code put} took for spills, and {@code finish}. */
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
      Object combiner)
      throws IOException;

  /** Bytes that a batch may have. */
  static native int batchBytes(long handle) throws IOException;

  static native void put(long handle, byte[] records, int length, int[] partitions, int count) throws IOException;

  static native void putBig(long handle, byte[] record, int from, int keyLength, int valueLength, int partition)
      throws IOException;

  /** Grows while there is progress. From any thread. */
  static native long ticks(long handle) throws IOException;

  /** Writes the output file; then start, raw length and length in the file of each partition, behind the numbers above. */
  static native long[] finish(long handle, String path) throws IOException;

  static native void close(long handle);
}
