package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputFormat;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Writer of a task of the old API that counts records and bytes in batches. */
public final class OldTaskOutput<K, V> implements RecordWriter<K, V> {
  private final RecordWriter<K, V> real;
  private final AttemptReporter reporter;
  private final ThreadStatistics statistics;
  private final LaterCounter records;
  private final LaterCounter bytes;
  private final Pace pace = new Pace();

  /**
   * @param name of the task's file
   * @param counter of records: output of the map or of the reduce
   */
  @SuppressWarnings("unchecked")
  public OldTaskOutput(String name, TaskCounter counter, AttemptReporter reporter, JobConf job) throws IOException {
    this.reporter = reporter;
    records = new LaterCounter(reporter.getCounter(counter));
    bytes = new LaterCounter(reporter.getCounter(FileOutputFormatCounter.BYTES_WRITTEN));
    OutputFormat<K, V> format = job.getOutputFormat();
    statistics = format instanceof FileOutputFormat
        ? ThreadStatistics.of(FileOutputFormat.getOutputPath(job), job) : ThreadStatistics.none();
    long before = statistics.bytesWritten();
    real = format.getRecordWriter(FileSystem.get(job), job, name, reporter);
    bytes.increment(statistics.bytesWritten() - before);
  }

  @Override
  public void write(K key, V value) throws IOException {
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
  public void close(Reporter last) throws IOException {
    long before = statistics.bytesWritten();
    real.close(last);
    bytes.increment(statistics.bytesWritten() - before);
    records.flush();
    bytes.flush();
  }
}
