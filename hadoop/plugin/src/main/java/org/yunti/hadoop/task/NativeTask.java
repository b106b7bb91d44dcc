package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;

/** Whole tasks in native code (native_task.rs). {@code facts}: {@link NativeJob#facts}. */
final class NativeTask {
  private NativeTask() {}

  /**
   * Maps [start, end) of a file of the given source and writes the map output. The first line of the result has start,
   * raw and file bytes of each partition. The other lines are counters: group, name and number, separated by tabs.
   */
  static native String[] map(
      String job,
      String[] facts,
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

  /** Maps [start, end) of a file to an output file, in a job without reduces. Returns counters as {@link #map} does. */
  static native String[] mapToFile(
      String job,
      String[] facts,
      TaskFiles files,
      String path,
      long start,
      long end,
      int source,
      int number,
      long memoryBytes,
      String output)
      throws IOException;

  /** Returns the job file with framed records as its input, its output, or both. */
  static native String framed(String job, boolean input, boolean output) throws IOException;

  /**
   * Returns the key and value types of the output, as in {@code bytes i64}. {@code libraries} has the local paths of
   * the class libraries, or null in a task.
   */
  static native String outputTypes(String job, String[] facts, String[] libraries) throws IOException;

  /**
   * Returns the bounds of a total order from a sample of the files, or null for a job without such an order. {@code
   * sources} has the source of each path.
   */
  static native String bounds(
      String job, String[] facts, TaskFiles files, String[] libraries, String[] paths, int[] sources)
      throws IOException;

  /**
   * Completes a job by the first file of each source: its formats if it {@code recognises} them, its columns and their
   * types. Returns the job file and the number of reduces.
   */
  static native String[] complete(
      String job, String[] facts, TaskFiles files, String[] libraries, String[] paths, int[] sources, boolean recognises)
      throws IOException;

  /** Returns true if the job reads or writes files of columns, for which it needs their library. */
  static native boolean needsFormats(String job) throws IOException;

  /**
   * Returns for each source, separated by commas, {@code true} or {@code false} if its uncompressed files may be split
   * anywhere, {@code blocks} if those of {@link #hasBlocks} may too, or {@code units} if all its files may: their names
   * show no codec.
   */
  static native String splittable(String job, String[] facts, String[] libraries) throws IOException;

  /** Returns true if a file of this name is read through a codec. */
  static native boolean compressed(String path) throws IOException;

  /** Returns true if a file of this name may be split anywhere although it is compressed. */
  static native boolean hasBlocks(String path) throws IOException;

  /** Returns the suffix of output files: the extension of the job's codec, or an empty string. */
  static native String extension(String job) throws IOException;

  /**
   * Returns true if keys are merged in descending order of their bytes; then true if reduces take the records of each
   * map apart, in no order of all.
   */
  static native boolean[] merging(String job, String[] facts, String[] libraries) throws IOException;

  /** Reduces the records of {@code input}, a NativeReduceInput, to a file. Returns counters as {@link #map} does. */
  static native String[] reduce(
      String job,
      String[] facts,
      TaskFiles files,
      long input,
      int partition,
      long memoryBytes,
      String[] directories,
      String output)
      throws IOException;

  /** Adds native counters to the task's, except records that Java readers and writers already count. */
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
