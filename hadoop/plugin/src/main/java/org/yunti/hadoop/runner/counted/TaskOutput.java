package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Writer of a task of the new API that counts records and bytes in batches. */
public final class TaskOutput<K, V> extends RecordWriter<K, V> {
  private final RecordWriter<K, V> real;
  private final AttemptReporter reporter;
  private final ThreadStatistics statistics;
  private final LaterCounter records;
  private final LaterCounter bytes;
  private final Pace pace = new Pace();

  /** @param counter of records: output of the map or of the reduce */
  public TaskOutput(OutputFormat<K, V> format, TaskCounter counter, AttemptReporter reporter, TaskAttemptContext context)
      throws IOException, InterruptedException {
    this.reporter = reporter;
    records = new LaterCounter(reporter.getCounter(counter));
    bytes = new LaterCounter(reporter.getCounter(FileOutputFormatCounter.BYTES_WRITTEN));
    statistics = format instanceof FileOutputFormat
        ? ThreadStatistics.of(FileOutputFormat.getOutputPath(context), context.getConfiguration())
        : ThreadStatistics.none();
    long before = statistics.bytesWritten();
    real = format.getRecordWriter(context);
    bytes.increment(statistics.bytesWritten() - before);
  }

  @Override
  public void write(K key, V value) throws IOException, InterruptedException {
    long before = statistics.bytesWritten();
    real.write(key, value);
    count(statistics.bytesWritten() - before);
    reporter.checkCancelled();
  }

  /** Counts a record. Threads of a mapper or reducer may write at the same time. */
  private synchronized void count(long moreBytes) {
    bytes.increment(moreBytes);
    records.increment(1);
    if (pace.isDue()) {
      records.flush();
      bytes.flush();
      reporter.progress();
    }
  }

  @Override
  public void close(TaskAttemptContext context) throws IOException, InterruptedException {
    reporter.progress();
    long before = statistics.bytesWritten();
    real.close(context);
    bytes.increment(statistics.bytesWritten() - before);
    records.flush();
    bytes.flush();
  }
}
