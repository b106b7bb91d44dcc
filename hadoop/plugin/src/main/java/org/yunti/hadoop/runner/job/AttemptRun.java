package org.yunti.hadoop.runner.job;

import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.BadRecords;

/** One attempt of a task: its state, from its start to its end. It ends once; what comes after that is ignored. */
final class AttemptRun {
  enum State { RUNNING, SUCCEEDED, FAILED, KILLED }

  final TaskRun task;
  final TaskAttemptID id;
  final long started_ms = System.currentTimeMillis();
  private final AttemptEnd end;
  private State state = State.RUNNING;
  private long finished_ms;
  private String diagnostics = "";
  /** Local directories of its map output; null before it succeeded. */
  private String localDirectories;
  /** Null before and after its code runs. */
  private RunningAttempt running;
  /** Record at which user code failed, if the attempt watched it. */
  private long record = BadRecords.NONE;
  /** The last state. */
  private AttemptState last = new AttemptState();
  /** State in which the attempt ends although its code goes on or fails, or null. */
  private State wanted;
  private long stopped_ms;
  private boolean hasSlot;
  private long lastProgress_ms = started_ms;

  /** Receiver of attempts that ended. */
  interface AttemptEnd {
    void ended(AttemptRun attempt);
  }

  AttemptRun(TaskRun task, TaskAttemptID id, AttemptEnd end) {
    this.task = task;
    this.id = id;
    this.end = end;
  }

  /** Connects the attempt with its running code. */
  void runs(RunningAttempt code) {
    boolean isStopped;
    synchronized (this) {
      running = code;
      lastProgress_ms = System.currentTimeMillis();
      isStopped = wanted != null;
    }
    if (isStopped) {
      code.cancel();
    }
  }

  synchronized boolean isRunning() {
    return state == State.RUNNING;
  }

  synchronized boolean isStopping() {
    return state == State.RUNNING && wanted != null;
  }

  synchronized State state() {
    return state;
  }

  synchronized long finished_ms() {
    return finished_ms;
  }

  /** Returns the record that user code had at the end, or {@link BadRecords#NONE}. */
  synchronized long record() {
    return record;
  }

  synchronized String diagnostics() {
    return diagnostics;
  }

  synchronized String localDirectories() {
    return localDirectories;
  }

  /** Returns the state of the moment, or the last one. */
  AttemptState now() {
    RunningAttempt code;
    synchronized (this) {
      code = running;
      if (code == null) {
        return last;
      }
    }
    return code.state();
  }

  Counters counters() {
    return now().counters();
  }

  /** @param directories local directories of the map output */
  void succeed(String directories) {
    finish(State.SUCCEEDED, "", directories);
  }

  /** Ends the attempt with a failure, or as its job wanted it. */
  void fail(String message) {
    finish(State.FAILED, message, null);
  }

  /** Ends an attempt whose code does not end. */
  void abandon() {
    RunningAttempt code;
    synchronized (this) {
      code = running;
    }
    finish(State.KILLED, "", null);
    if (code != null) {
      code.abandon();
    }
  }

  private void finish(State how, String message, String directories) {
    AttemptState ending = now();
    synchronized (this) {
      if (state != State.RUNNING) {
        return;
      }
      state = wanted == null ? how : wanted;
      if (wanted == null) {
        diagnostics = message;
      }
      localDirectories = state == State.SUCCEEDED ? directories : null;
      finished_ms = System.currentTimeMillis();
      record = running == null ? BadRecords.NONE : running.record();
      last = ending;
      running = null;
    }
    end.ended(this);
  }

  /** Waits for a slot, which the attempt holds until it releases it. */
  void acquireSlot() throws InterruptedException {
    Slots.acquire();
    synchronized (this) {
      hasSlot = true;
    }
  }

  /** Releases the attempt's slot, if it holds one: an abandoned attempt has none, although its code goes on. */
  synchronized void releaseSlot() {
    if (hasSlot) {
      hasSlot = false;
      Slots.release();
    }
  }

  /** Asks the attempt to end in a state; its code notices at its next record, or when it waits. */
  void stop(State how, String message) {
    RunningAttempt code;
    synchronized (this) {
      if (state != State.RUNNING || wanted != null) {
        return;
      }
      wanted = how;
      stopped_ms = System.currentTimeMillis();
      diagnostics = message;
      code = running;
    }
    if (code != null) {
      code.cancel();
    }
  }

  /**
   * Ends an attempt that was stopped {@code ms} milliseconds ago or longer, although its code goes on. Returns true if
   * it did.
   */
  boolean abandonAfter(long ms) {
    boolean isDue;
    synchronized (this) {
      isDue = state == State.RUNNING && wanted != null && System.currentTimeMillis() - stopped_ms > ms;
    }
    if (isDue) {
      abandon();
    }
    return isDue;
  }

  /** Returns the milliseconds since the last progress. */
  synchronized long quiet_ms() {
    long now = System.currentTimeMillis();
    if (running == null || running.takeProgress()) {
      lastProgress_ms = now;
    }
    return now - lastProgress_ms;
  }

  /** Returns where the attempt's code is, for a message. */
  synchronized String stack() {
    return running == null ? "" : running.stack();
  }
}
