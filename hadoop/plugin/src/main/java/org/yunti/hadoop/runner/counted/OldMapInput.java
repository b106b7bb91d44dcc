package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Reader of a map task of the old API that counts records and bytes in batches. */
public final class OldMapInput<K, V> implements RecordReader<K, V> {
  private final RecordReader<K, V> real;
  private final AttemptReporter reporter;
  private final ThreadStatistics statistics;
  private final LaterCounter records;
  private final LaterCounter bytes;
  private final Pace pace = new Pace();

  @SuppressWarnings("unchecked")
  public OldMapInput(InputSplit split, AttemptReporter reporter, JobConf job) throws IOException {
    this.reporter = reporter;
    records = new LaterCounter(reporter.getCounter(TaskCounter.MAP_INPUT_RECORDS));
    bytes = new LaterCounter(reporter.getCounter(FileInputFormatCounter.BYTES_READ));
    statistics = split instanceof FileSplit
        ? ThreadStatistics.of(((FileSplit) split).getPath(), job) : ThreadStatistics.none();
    long before = statistics.bytesRead();
    real = job.getInputFormat().getRecordReader(split, job, reporter);
    bytes.increment(statistics.bytesRead() - before);
  }

  @Override
  public synchronized boolean next(K key, V value) throws IOException {
    long before = statistics.bytesRead();
    boolean more = real.next(key, value);
    bytes.increment(statistics.bytesRead() - before);
    if (more) {
      records.increment(1);
    }
    if (!more || pace.isDue()) {
      records.flush();
      bytes.flush();
      reporter.setProgress(real.getProgress());
    }
    reporter.checkCancelled();
    return more;
  }

  @Override
  public K createKey() {
    return real.createKey();
  }

  @Override
  public V createValue() {
    return real.createValue();
  }

  @Override
  public long getPos() throws IOException {
    return real.getPos();
  }

  @Override
  public float getProgress() throws IOException {
    return real.getProgress();
  }

  @Override
  public void close() throws IOException {
    long before = statistics.bytesRead();
    real.close();
    bytes.increment(statistics.bytesRead() - before);
    records.flush();
    bytes.flush();
  }
}
