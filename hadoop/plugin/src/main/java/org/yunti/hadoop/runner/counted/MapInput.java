package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Reader of a map task of the new API that counts records and bytes in batches. */
public final class MapInput<K, V> extends RecordReader<K, V> {
  private final RecordReader<K, V> real;
  private final AttemptReporter reporter;
  private final Traffic traffic;

  public MapInput(InputSplit split, InputFormat<K, V> format, AttemptReporter reporter, TaskAttemptContext context)
      throws IOException, InterruptedException {
    this.reporter = reporter;
    Path file = split instanceof FileSplit ? ((FileSplit) split).getPath() : null;
    traffic = Traffic.input(reporter, file, context.getConfiguration());
    long before = traffic.bytes();
    real = format.createRecordReader(split, context);
    traffic.countBytes(before);
  }

  @Override
  public void initialize(InputSplit split, TaskAttemptContext context) throws IOException, InterruptedException {
    long before = traffic.bytes();
    real.initialize(split, context);
    traffic.countBytes(before);
    traffic.flush();
  }

  @Override
  public boolean nextKeyValue() throws IOException, InterruptedException {
    long before = traffic.bytes();
    boolean more = real.nextKeyValue();
    if (!more) {
      traffic.countBytes(before);
      traffic.flush();
      reporter.setProgress(real.getProgress());
    } else if (traffic.countRecord(before)) {
      reporter.setProgress(real.getProgress());
    }
    reporter.checkCancelled();
    return more;
  }

  @Override
  public K getCurrentKey() throws IOException, InterruptedException {
    return real.getCurrentKey();
  }

  @Override
  public V getCurrentValue() throws IOException, InterruptedException {
    return real.getCurrentValue();
  }

  @Override
  public float getProgress() throws IOException, InterruptedException {
    return real.getProgress();
  }

  @Override
  public void close() throws IOException {
    long before = traffic.bytes();
    real.close();
    traffic.countBytes(before);
    traffic.flush();
  }
}
