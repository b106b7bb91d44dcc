package org.yunti.hadoop;

import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.Reporter;

/** Test reporter with counters only. */
public class CountingReporter implements Reporter {
  public final Counters counters = new Counters();

  @Override
  public Counters.Counter getCounter(String group, String name) {
    return counters.findCounter(group, name);
  }

  @Override
  public Counters.Counter getCounter(Enum<?> name) {
    return counters.findCounter(name);
  }

  @Override
  public void incrCounter(Enum<?> key, long amount) {}

  @Override
  public void incrCounter(String group, String counter, long amount) {}

  @Override
  public InputSplit getInputSplit() {
    return null;
  }

  @Override
  public float getProgress() {
    return 0;
  }

  @Override
  public void setStatus(String status) {}

  @Override
  public void progress() {}
}
