package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.mapred.Reporter;

/** Whole tasks in native code (native_task.rs). */
final class NativeTask {
  private NativeTask() {}

  /**
   * Maps [start, end) of a file and writes the map output. The first line has start, raw and file bytes of each partition; the others
   * are counters: group, name, number, separated by tabs.
   */
  static native String[] map(
      String job,
      TaskFiles files,
      String path,
      long start,
      long end,
      int number,
      long memoryBytes,
      String[] directories,
      int codec,
      int level,
      int codecBuffer,
      String bounds,
      String output)
      throws IOException;

  /** The bounds of a total order, from a sample of the files; null where the job has no such order. */
  static native String bounds(String job, TaskFiles files, String[] libraries, String[] paths) throws IOException;

  /** Whether a file that is not compressed may be cut anywhere. */
  static native boolean splittable(String job, String[] libraries) throws IOException;

  /** Whether a file of this name is read through a codec. */
  static native boolean compressed(String path) throws IOException;

  /** Whether keys are merged against the order of their bytes. */
  static native boolean reversed(String job) throws IOException;

  /** Reduces what {@code input} (a NativeReduceInput) holds to a file; the counters. */
  static native String[] reduce(
      String job,
      TaskFiles files,
      long input,
      int partition,
      long memoryBytes,
      String[] directories,
      String output)
      throws IOException;

  /** Takes over what native code counted. */
  static void count(String[] lines, int from, Reporter reporter) {
    for (int i = from; i < lines.length; i++) {
      String[] parts = lines[i].split("\t", 3);
      reporter.getCounter(parts[0], parts[1]).increment(Long.parseLong(parts[2]));
    }
  }
}
