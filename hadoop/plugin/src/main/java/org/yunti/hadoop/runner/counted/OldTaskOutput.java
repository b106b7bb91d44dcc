package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputFormat;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.lib.LazyOutputFormat;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Writer of a task of the old API that counts records and bytes in batches. */
public final class OldTaskOutput<K, V> implements RecordWriter<K, V> {
  private final RecordWriter<K, V> real;
  private final AttemptReporter reporter;
  private final Traffic traffic;
  private final boolean writesFiles;

  /**
   * @param name of the task's file
   * @param counter of records: output of the map or of the reduce
   */
  @SuppressWarnings("unchecked")
  public OldTaskOutput(String name, TaskCounter counter, AttemptReporter reporter, JobConf job) throws IOException {
    this.reporter = reporter;
    OutputFormat<K, V> format = job.getOutputFormat();
    writesFiles = format instanceof FileOutputFormat || format instanceof LazyOutputFormat;
    Path directory = format instanceof FileOutputFormat ? FileOutputFormat.getOutputPath(job) : null;
    traffic = Traffic.output(reporter, counter, directory, job);
    long before = traffic.bytes();
    real = format.getRecordWriter(FileSystem.get(job), job, name, reporter);
    traffic.countBytes(before);
  }

  @Override
  public void write(K key, V value) throws IOException {
    long before = traffic.bytes();
    real.write(key, value);
    if (traffic.countRecord(before)) {
      reporter.progress();
    }
    reporter.checkCancelled();
  }

  @Override
  public void close(Reporter last) throws IOException {
    long before = traffic.bytes();
    real.close(last);
    traffic.countBytes(before);
    traffic.flush();
  }

  /** Ends the output of an attempt that was killed, as {@link TaskOutput#drop} does. */
  public void drop(Reporter last) throws IOException {
    if (writesFiles) {
      real.close(last);
    }
  }
}
