package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.LazyOutputFormat;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Writer of a task of the new API that counts records and bytes in batches. */
public final class TaskOutput<K, V> extends RecordWriter<K, V> {
  private final RecordWriter<K, V> real;
  private final AttemptReporter reporter;
  private final Traffic traffic;
  private final boolean writesFiles;

  /** @param counter of records: output of the map or of the reduce */
  public TaskOutput(OutputFormat<K, V> format, TaskCounter counter, AttemptReporter reporter, TaskAttemptContext context)
      throws IOException, InterruptedException {
    this.reporter = reporter;
    writesFiles = format instanceof FileOutputFormat || format instanceof LazyOutputFormat;
    Path directory = format instanceof FileOutputFormat ? FileOutputFormat.getOutputPath(context) : null;
    traffic = Traffic.output(reporter, counter, directory, context.getConfiguration());
    long before = traffic.bytes();
    real = format.getRecordWriter(context);
    traffic.countBytes(before);
  }

  @Override
  public void write(K key, V value) throws IOException, InterruptedException {
    long before = traffic.bytes();
    real.write(key, value);
    if (traffic.countRecord(before)) {
      reporter.progress();
    }
    reporter.checkCancelled();
  }

  @Override
  public void close(TaskAttemptContext context) throws IOException, InterruptedException {
    reporter.progress();
    long before = traffic.bytes();
    real.close(context);
    traffic.countBytes(before);
    traffic.flush();
  }

  /**
   * Ends the output of an attempt that was killed. Files are closed, because their committer then removes them. Other
   * writers may make their output visible when they are closed; on a cluster their JVM is gone then.
   */
  public void drop(TaskAttemptContext context) throws IOException, InterruptedException {
    if (writesFiles) {
      real.close(context);
    }
  }
}
