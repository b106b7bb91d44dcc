package org.yunti.hadoop.runner.counted;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.mapreduce.Counter;

/**
 * Counter of one thread that adds to another one now and then. Hadoop's counters lock for each addition; a task that
 * counts each of its records would lock several times a record.
 */
public final class LaterCounter implements Counter {
  private final Counter target;
  private long added;

  public LaterCounter(Counter target) {
    this.target = target;
  }

  /** Adds to the other counter what was counted since the last call. */
  public void flush() {
    if (added != 0) {
      target.increment(added);
      added = 0;
    }
  }

  @Override
  public void increment(long more) {
    added += more;
  }

  @Override
  public long getValue() {
    return target.getValue() + added;
  }

  @Override
  public void setValue(long value) {
    added = 0;
    target.setValue(value);
  }

  @Override
  public String getName() {
    return target.getName();
  }

  @Override
  public String getDisplayName() {
    return target.getDisplayName();
  }

  @Override
  @Deprecated
  public void setDisplayName(String displayName) {
    target.setDisplayName(displayName);
  }

  @Override
  public Counter getUnderlyingCounter() {
    flush();
    return target;
  }

  @Override
  public void write(DataOutput to) throws IOException {
    flush();
    target.write(to);
  }

  @Override
  public void readFields(DataInput from) throws IOException {
    added = 0;
    target.readFields(from);
  }
}
