package org.yunti.hadoop.runner.attempt;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.TaskStatus;

/** State of an attempt at one moment: progress, counters, and the ends of its phases. */
public final class AttemptState implements Writable {
  private float progress;
  private String text = "";
  private final Counters counters = new Counters();
  private long mapEnd_ms;
  private long copyEnd_ms;
  private long sortEnd_ms;

  public AttemptState() {}

  /** @param status null before the attempt runs */
  public AttemptState(float progress, String text, TaskStatus status) {
    this.progress = progress;
    this.text = text;
    if (status != null) {
      counters.incrAllCounters(status.getCounters());
      if (status.getIsMap()) {
        mapEnd_ms = status.getMapFinishTime();
      } else {
        copyEnd_ms = status.getShuffleFinishTime();
        sortEnd_ms = status.getSortFinishTime();
      }
    }
  }

  /** Returns the share of the work that is done, from 0 to 1. */
  public float progress() {
    return progress;
  }

  /** Returns the state in words. */
  public String text() {
    return text;
  }

  public Counters counters() {
    return counters;
  }

  /** Returns the ends of the phases in milliseconds since 1970: map, copy, sort; 0 if unknown. */
  public long[] phases_ms() {
    return new long[] {mapEnd_ms, copyEnd_ms, sortEnd_ms};
  }

  @Override
  public void write(DataOutput to) throws IOException {
    to.writeFloat(progress);
    Text.writeString(to, text);
    counters.write(to);
    to.writeLong(mapEnd_ms);
    to.writeLong(copyEnd_ms);
    to.writeLong(sortEnd_ms);
  }

  @Override
  public void readFields(DataInput from) throws IOException {
    progress = from.readFloat();
    text = Text.readString(from);
    counters.readFields(from);
    mapEnd_ms = from.readLong();
    copyEnd_ms = from.readLong();
    sortEnd_ms = from.readLong();
  }
}
