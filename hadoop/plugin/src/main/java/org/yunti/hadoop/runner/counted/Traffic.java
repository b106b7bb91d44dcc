package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/**
 * Records and bytes that a task's reader or writer passes on, counted in batches. Threads of a mapper or reducer may
 * pass them on at the same time.
 */
final class Traffic {
  private final boolean isInput;
  private final ThreadStatistics statistics;
  private final LaterCounter records;
  private final LaterCounter bytes;
  private final Pace pace = new Pace();

  private Traffic(boolean isInput, ThreadStatistics statistics, LaterCounter records, LaterCounter bytes) {
    this.isInput = isInput;
    this.statistics = statistics;
    this.records = records;
    this.bytes = bytes;
  }

  /** @param file of the split, or null if it is no file: its bytes are not counted then */
  static Traffic input(AttemptReporter reporter, Path file, Configuration conf) throws IOException {
    return new Traffic(true, statistics(file, conf),
        new LaterCounter(reporter.getCounter(TaskCounter.MAP_INPUT_RECORDS)),
        new LaterCounter(reporter.getCounter(FileInputFormatCounter.BYTES_READ)));
  }

  /**
   * Returns the traffic of a writer.
   *
   * @param records counter of the map's output or of the reduce's
   * @param directory of the output, or null if it is no file: its bytes are not counted then
   */
  static Traffic output(AttemptReporter reporter, TaskCounter records, Path directory, Configuration conf)
      throws IOException {
    return new Traffic(false, statistics(directory, conf), new LaterCounter(reporter.getCounter(records)),
        new LaterCounter(reporter.getCounter(FileOutputFormatCounter.BYTES_WRITTEN)));
  }

  private static ThreadStatistics statistics(Path path, Configuration conf) throws IOException {
    return path == null ? ThreadStatistics.none() : ThreadStatistics.of(path, conf);
  }

  /** Returns the bytes that the present thread passed on so far. */
  long bytes() {
    return isInput ? statistics.bytesRead() : statistics.bytesWritten();
  }

  /** Counts the bytes since an earlier moment of this thread. */
  synchronized void countBytes(long before) {
    bytes.increment(bytes() - before);
  }

  /**
   * Counts a record and the bytes since an earlier moment of this thread.
   *
   * @return true if the task should report its progress
   */
  synchronized boolean countRecord(long before) {
    countBytes(before);
    records.increment(1);
    if (pace.isDue()) {
      flush();
      return true;
    }
    return false;
  }

  /** Shows all that was counted. */
  synchronized void flush() {
    records.flush();
    bytes.flush();
  }
}
