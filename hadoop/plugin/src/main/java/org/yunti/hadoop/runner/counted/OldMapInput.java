package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Reader of a map task of the old API that counts records and bytes in batches. */
public final class OldMapInput<K, V> implements RecordReader<K, V> {
  private final RecordReader<K, V> real;
  private final AttemptReporter reporter;
  private final Traffic traffic;

  @SuppressWarnings("unchecked")
  public OldMapInput(InputSplit split, AttemptReporter reporter, JobConf job) throws IOException {
    this.reporter = reporter;
    traffic = Traffic.input(reporter, split instanceof FileSplit ? ((FileSplit) split).getPath() : null, job);
    long before = traffic.bytes();
    real = job.getInputFormat().getRecordReader(split, job, reporter);
    traffic.countBytes(before);
  }

  @Override
  public synchronized boolean next(K key, V value) throws IOException {
    long before = traffic.bytes();
    boolean more = real.next(key, value);
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
    long before = traffic.bytes();
    real.close();
    traffic.countBytes(before);
    traffic.flush();
  }
}
