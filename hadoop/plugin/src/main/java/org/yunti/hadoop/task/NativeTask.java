package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;

/** Whole tasks in native code (native_task.rs). */
final class NativeTask {
  private NativeTask() {}

  /**
   * Maps [start, end) of a file, one of that source, and writes the map output. The first line has start, raw and file bytes of each partition; the others
   * are counters: group, name, number, separated by tabs.
   */
  static native String[] map(
      String job,
      TaskFiles files,
      String path,
      long start,
      long end,
      int source,
      int number,
      long memoryBytes,
      String[] directories,
      int codec,
      int level,
      int codecBuffer,
      String bounds,
      String output)
      throws IOException;

  /** Maps [start, end) of a file to another one, in a job of maps alone; the counters. */
  static native String[] mapToFile(
      String job, TaskFiles files, String path, long start, long end, int source, int number, long memoryBytes, String output)
      throws IOException;

  /** The job with framed records as its input, its output, or both. */
  static native String framed(String job, boolean input, boolean output) throws IOException;

  /** Types of keys and values of the output, as in {@code bytes i64}. */
  static native String outputTypes(String job, String[] libraries) throws IOException;

  /**
   * The bounds of a total order, from a sample of the files, which are of the sources beside them; null where the job has no such
   * order.
   */
  static native String bounds(String job, TaskFiles files, String[] libraries, String[] paths, int[] sources) throws IOException;

  /** Whether a file that is not compressed may be cut anywhere: of each source {@code true} or {@code false}, separated by commas. */
  static native String splittable(String job, String[] libraries) throws IOException;

  /** Whether a file of this name is read through a codec. */
  static native boolean compressed(String path) throws IOException;

  /** What the name of an output file ends in: the extension of the codec that it is written through, or nothing. */
  static native String extension(String job) throws IOException;

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

  /** Takes over what native code counted, but for records that Java's readers and writers have counted. */
  static void count(String[] lines, int from, TaskInputOutputContext<?, ?, ?, ?> context) throws IOException {
    Set<String> counted = new HashSet<>();
    if (!NativeJob.readsNatively(context)) {
      counted.add(TaskCounter.MAP_INPUT_RECORDS.name());
    }
    if (!NativeJob.writesNatively(context)) {
      boolean maps = context.getNumReduceTasks() == 0;
      counted.add((maps ? TaskCounter.MAP_OUTPUT_RECORDS : TaskCounter.REDUCE_OUTPUT_RECORDS).name());
    }
    for (int i = from; i < lines.length; i++) {
      String[] parts = lines[i].split("\t", 3);
      if (!parts[0].equals(TaskCounter.class.getName()) || !counted.contains(parts[1])) {
        context.getCounter(parts[0], parts[1]).increment(Long.parseLong(parts[2]));
      }
    }
  }
}
