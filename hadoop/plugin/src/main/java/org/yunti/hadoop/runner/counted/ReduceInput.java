package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Merged records of a reduce task; reports the progress in batches of records. */
public final class ReduceInput implements RawKeyValueIterator {
  private final RawKeyValueIterator real;
  private final AttemptReporter reporter;
  private final LaterCounter groups;
  private final LaterCounter values;
  private final Pace pace = new Pace();

  public ReduceInput(RawKeyValueIterator real, AttemptReporter reporter, LaterCounter groups, LaterCounter values) {
    this.real = real;
    this.reporter = reporter;
    this.groups = groups;
    this.values = values;
  }

  @Override
  public boolean next() throws IOException {
    reporter.checkCancelled();
    boolean more = real.next();
    if (!more || pace.isDue()) {
      flush();
      reporter.setProgress(real.getProgress().getProgress());
    }
    return more;
  }

  public void flush() {
    groups.flush();
    values.flush();
  }

  @Override
  public DataInputBuffer getKey() throws IOException {
    return real.getKey();
  }

  @Override
  public DataInputBuffer getValue() throws IOException {
    return real.getValue();
  }

  @Override
  public Progress getProgress() {
    return real.getProgress();
  }

  @Override
  public void close() throws IOException {
    real.close();
  }
}
