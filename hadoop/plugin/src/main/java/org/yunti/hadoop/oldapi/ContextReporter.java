package org.yunti.hadoop.oldapi;

import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Reporter of the old API that forwards to a task's context. */
final class ContextReporter implements Reporter {
  private final TaskAttemptContext context;
  private final InputSplit split;

  ContextReporter(TaskAttemptContext context, InputSplit split) {
    this.context = context;
    this.split = split;
  }

  @Override
  public void setStatus(String status) {
    context.setStatus(status);
  }

  @Override
  public void progress() {
    context.progress();
  }

  @Override
  public void incrCounter(Enum<?> key, long amount) {
    context.getCounter(key).increment(amount);
  }

  @Override
  public void incrCounter(String group, String counter, long amount) {
    context.getCounter(group, counter).increment(amount);
  }

  /** Returns null, as Hadoop's null reporter does: the counter classes of the two APIs are unrelated. */
  @Override
  public Counters.Counter getCounter(Enum<?> name) {
    return null;
  }

  @Override
  public Counters.Counter getCounter(String group, String name) {
    return null;
  }

  @Override
  public InputSplit getInputSplit() {
    if (split == null) {
      throw new UnsupportedOperationException("a writer has no split");
    }
    return split;
  }

  @Override
  public float getProgress() {
    return context.getProgress();
  }
}
