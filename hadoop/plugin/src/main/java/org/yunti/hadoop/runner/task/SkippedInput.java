package org.yunti.hadoop.runner.task;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;
import org.yunti.hadoop.runner.attempt.BadRecords;

/**
 * Input that an attempt leaves out: it is counted as skipped instead of as input, and kept in a file. An attempt that
 * skips nothing costs nothing.
 */
final class SkippedInput {
  private final BadRecords bad;
  private final AttemptReporter reporter;
  private final SkippedFile file;
  private long number;

  /** @param bad null if the attempt skips nothing */
  SkippedInput(BadRecords bad, JobConf conf, TaskAttemptID attempt, AttemptReporter reporter) {
    this.bad = bad;
    this.reporter = reporter;
    file = bad == null ? null : new SkippedFile(conf, attempt);
  }

  /** Returns true if the next record, or the next group, is left out. */
  boolean leavesOut() {
    return bad != null && bad.leavesOut(number++);
  }

  /** Notes that user code has seen all records. */
  void end() throws IOException {
    if (bad != null) {
      bad.end();
      file.close();
    }
  }

  void record(Object key, Object value) throws IOException {
    file.add(key, value);
    reporter.incrCounter(TaskCounter.MAP_SKIPPED_RECORDS, 1);
    reporter.incrCounter(TaskCounter.MAP_INPUT_RECORDS, -1);
  }

  /** Begins a group, whose values follow. */
  void group() {
    reporter.incrCounter(TaskCounter.REDUCE_SKIPPED_GROUPS, 1);
    reporter.incrCounter(TaskCounter.REDUCE_INPUT_GROUPS, -1);
  }

  void value(Object key, Object value) throws IOException {
    file.add(key, value);
    reporter.incrCounter(TaskCounter.REDUCE_SKIPPED_RECORDS, 1);
    reporter.incrCounter(TaskCounter.REDUCE_INPUT_RECORDS, -1);
  }

  void abort() throws IOException {
    if (file != null) {
      file.abort();
    }
  }
}
