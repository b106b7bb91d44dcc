package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Reader of a map task of the new API that counts records and bytes in batches. */
public final class MapInput<K, V> extends RecordReader<K, V> {
  private final RecordReader<K, V> real;
  private final AttemptReporter reporter;
  private final ThreadStatistics statistics;
  private final LaterCounter records;
  private final LaterCounter bytes;
  private final Pace pace = new Pace();

  public MapInput(InputSplit split, InputFormat<K, V> format, AttemptReporter reporter, TaskAttemptContext context)
      throws IOException, InterruptedException {
    this.reporter = reporter;
    records = new LaterCounter(reporter.getCounter(TaskCounter.MAP_INPUT_RECORDS));
    bytes = new LaterCounter(reporter.getCounter(FileInputFormatCounter.BYTES_READ));
    statistics = split instanceof FileSplit
        ? ThreadStatistics.of(((FileSplit) split).getPath(), context.getConfiguration()) : ThreadStatistics.none();
    long before = statistics.bytesRead();
    real = format.createRecordReader(split, context);
    bytes.increment(statistics.bytesRead() - before);
  }

  @Override
  public void initialize(InputSplit split, TaskAttemptContext context) throws IOException, InterruptedException {
    long before = statistics.bytesRead();
    real.initialize(split, context);
    bytes.increment(statistics.bytesRead() - before);
    flush();
  }

  @Override
  public boolean nextKeyValue() throws IOException, InterruptedException {
    long before = statistics.bytesRead();
    boolean more = real.nextKeyValue();
    bytes.increment(statistics.bytesRead() - before);
    if (more) {
      records.increment(1);
    }
    if (!more || pace.isDue()) {
      flush();
      reporter.setProgress(real.getProgress());
    }
    reporter.checkCancelled();
    return more;
  }

  private void flush() {
    records.flush();
    bytes.flush();
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
    long before = statistics.bytesRead();
    real.close();
    bytes.increment(statistics.bytesRead() - before);
    flush();
  }
}
