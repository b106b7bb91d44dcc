package org.yunti.hadoop.runner.attempt;

import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * Reporter of an attempt, for user code and for the loops of its task. It has no thread of its own: the job asks for
 * the state of its attempts when a client wants to know it.
 */
public final class AttemptReporter extends TaskReporter {
  private final AttemptControl control;

  public AttemptReporter(Task task, TaskUmbilicalProtocol umbilical, AttemptControl control) {
    task.super(task.getProgress(), umbilical);
    this.control = control;
  }

  @Override
  public void progress() {
    control.progress();
  }

  @Override
  public void setProgress(float shareOfPhase) {
    control.progress();
    super.setProgress(shareOfPhase);
  }

  @Override
  public void setStatus(String status) {
    control.progress();
    super.setStatus(status);
  }

  @Override
  @SuppressWarnings("rawtypes") // Hadoop's signature.
  public void incrCounter(Enum name, long more) {
    control.progress();
    super.incrCounter(name, more);
  }

  @Override
  public void incrCounter(String group, String name, long more) {
    control.progress();
    super.incrCounter(group, name, more);
  }

  /** Throws {@link Cancelled} if the attempt was killed. */
  public void checkCancelled() {
    control.checkCancelled();
  }
}
