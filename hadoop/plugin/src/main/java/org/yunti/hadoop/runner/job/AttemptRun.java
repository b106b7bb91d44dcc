package org.yunti.hadoop.runner.job;

import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.yunti.hadoop.runner.task.AttemptControl;
import org.yunti.hadoop.runner.task.AttemptUmbilical;

/** One attempt of a task: its state, from its start to its end. It ends once; what comes after that is ignored. */
final class AttemptRun {
  enum State { RUNNING, SUCCEEDED, FAILED, KILLED }

  final TaskRun task;
  final TaskAttemptID id;
  final AttemptControl control;
  final AttemptUmbilical umbilical;
  final long started_ms = System.currentTimeMillis();
  private final AttemptEnd end;
  private State state = State.RUNNING;
  private long finished_ms;
  private String diagnostics = "";
  private Counters counters = new Counters();
  private MapOutputFile output;
  private Thread thread;
  /** State in which the attempt ends although its code goes on or fails, or null. */
  private State wanted;
  private long stopped_ms;
  private long lastProgress_ms = started_ms;

  /** Receiver of attempts that ended. */
  interface AttemptEnd {
    void ended(AttemptRun attempt);
  }

  AttemptRun(TaskRun task, TaskAttemptID id, AttemptUmbilical.Job job, AttemptEnd end) {
    this.task = task;
    this.id = id;
    this.end = end;
    control = new AttemptControl(id);
    umbilical = new AttemptUmbilical(job);
  }

  synchronized void runsIn(Thread newThread) {
    thread = newThread;
  }

  synchronized boolean isRunning() {
    return state == State.RUNNING;
  }

  synchronized State state() {
    return state;
  }

  synchronized long finished_ms() {
    return finished_ms;
  }

  synchronized String diagnostics() {
    return diagnostics;
  }

  synchronized MapOutputFile output() {
    return output;
  }

  /** Returns the final counters, or those of the moment. */
  synchronized Counters counters() {
    if (state == State.RUNNING) {
      TaskStatus status = umbilical.status();
      return status == null ? counters : status.getCounters();
    }
    return counters;
  }

  void succeed(MapOutputFile mapOutput) {
    finish(State.SUCCEEDED, "", mapOutput);
  }

  /** Ends the attempt with a failure, or as its job wanted it. */
  void fail(String message) {
    finish(State.FAILED, message, null);
  }

  private void finish(State how, String message, MapOutputFile mapOutput) {
    synchronized (this) {
      if (state != State.RUNNING) {
        return;
      }
      state = wanted == null ? how : wanted;
      if (wanted == null) {
        diagnostics = message;
      }
      output = state == State.SUCCEEDED ? mapOutput : null;
      finished_ms = System.currentTimeMillis();
      TaskStatus status = umbilical.status();
      // The attempt's own object may change further if its code goes on.
      counters = new Counters();
      if (status != null) {
        counters.incrAllCounters(status.getCounters());
      }
      thread = null;
    }
    end.ended(this);
  }

  /** Asks the attempt to end in a state; its code notices at its next record, or when it waits. */
  void stop(State how, String message) {
    Thread running;
    synchronized (this) {
      if (state != State.RUNNING || wanted != null) {
        return;
      }
      wanted = how;
      stopped_ms = System.currentTimeMillis();
      diagnostics = message;
      running = thread;
    }
    control.cancel();
    if (running != null) {
      running.interrupt();
    }
  }

  /** Ends an attempt whose code does not end. */
  void abandon() {
    finish(State.KILLED, "", null);
  }

  /** Ends an attempt that was stopped {@code ms} milliseconds ago or longer, although its code goes on. */
  void abandonAfter(long ms) {
    boolean isDue;
    synchronized (this) {
      isDue = state == State.RUNNING && wanted != null && System.currentTimeMillis() - stopped_ms > ms;
    }
    if (isDue) {
      abandon();
    }
  }

  synchronized boolean isStopping() {
    return state == State.RUNNING && wanted != null;
  }

  /** Returns the milliseconds since the last progress. */
  synchronized long quiet_ms() {
    long now = System.currentTimeMillis();
    if (control.takeProgress()) {
      lastProgress_ms = now;
    }
    return now - lastProgress_ms;
  }

  /** Returns the stack of the attempt's thread, for a message. */
  synchronized String stack() {
    StringBuilder text = new StringBuilder();
    if (thread != null) {
      for (StackTraceElement frame : thread.getStackTrace()) {
        text.append("\n\tat ").append(frame);
      }
    }
    return text.toString();
  }
}
