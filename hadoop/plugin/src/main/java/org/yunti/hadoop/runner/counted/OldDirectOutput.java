package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import java.text.NumberFormat;
import java.util.Locale;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Map output of the old API in a job without reduces: each record goes to the output format. */
public final class OldDirectOutput<K, V> implements MapOutputCollector<K, V> {
  private final AttemptReporter reporter;
  private final OldTaskOutput<K, V> out;

  public OldDirectOutput(AttemptReporter reporter, JobConf job, int partition) throws IOException {
    this.reporter = reporter;
    out = new OldTaskOutput<>(fileName(partition), TaskCounter.MAP_OUTPUT_RECORDS, reporter, job);
  }

  /** Returns the name of a task's file in the old API: part-00007. */
  public static String fileName(int partition) {
    NumberFormat digits = NumberFormat.getInstance(Locale.ROOT);
    digits.setMinimumIntegerDigits(5);
    digits.setGroupingUsed(false);
    return "part-" + digits.format(partition);
  }

  @Override
  public void init(Context context) {}

  @Override
  public void collect(K key, V value, int partition) throws IOException {
    out.write(key, value);
  }

  @Override
  public void flush() {}

  @Override
  public void close() throws IOException {
    out.close(reporter);
  }

  /** Ends the output of an attempt that was killed. */
  public void drop() throws IOException {
    out.drop(reporter);
  }
}
