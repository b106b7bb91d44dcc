package org.yunti.hadoop.runner.attempt;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** One attempt of a task as its job sees it: whether it makes progress, and whether it must end. */
public final class AttemptControl {
  private final TaskAttemptID id;
  private final AtomicBoolean progressed = new AtomicBoolean();
  private final BadRecords bad;
  private volatile boolean cancelled;

  /** @param bad null if the attempt skips no bad records */
  public AttemptControl(TaskAttemptID id, BadRecords bad) {
    this.id = id;
    this.bad = bad;
  }

  /** Returns the records that the attempt leaves out; null if it skips none. */
  public BadRecords bad() {
    return bad;
  }

  /** Ends the attempt at its next record. */
  public void cancel() {
    cancelled = true;
  }

  public boolean isCancelled() {
    return cancelled;
  }

  /** Returns true if the attempt made progress since the last call. */
  public boolean takeProgress() {
    return progressed.getAndSet(false);
  }

  public void progress() {
    // Called once a record or more: without a fence.
    progressed.lazySet(true);
  }

  public void checkCancelled() {
    if (cancelled) {
      throw new Cancelled(id.toString());
    }
  }
}
