package org.yunti.hadoop.runner.job;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;

/** Ends of attempts, in their order, for clients that ask for them from a number on. */
final class Events {
  private final List<TaskCompletionEvent> all = new ArrayList<>();

  /**
   * Adds the end of an attempt.
   *
   * @param isLast true if the task fails with this attempt
   */
  synchronized void add(AttemptRun attempt, boolean isLast, String logs) {
    all.add(new Event(all.size(), attempt, isLast, logs));
  }

  private static final class Event extends TaskCompletionEvent {
    Event(int number, AttemptRun attempt, boolean isLast, String logs) {
      super(number, attempt.id, attempt.id.getTaskID().getId(), attempt.task.isMap(),
          Events.status(attempt.state(), isLast), logs);
      setTaskRunTime((int) Math.min(Integer.MAX_VALUE, attempt.finished_ms() - attempt.started_ms));
    }
  }

  private static TaskCompletionEvent.Status status(AttemptRun.State state, boolean isLast) {
    switch (state) {
      case SUCCEEDED:
        return TaskCompletionEvent.Status.SUCCEEDED;
      case FAILED:
        return isLast ? TaskCompletionEvent.Status.TIPFAILED : TaskCompletionEvent.Status.FAILED;
      default:
        return TaskCompletionEvent.Status.KILLED;
    }
  }

  synchronized TaskCompletionEvent[] from(int number, int countMax) {
    int begin = Math.min(Math.max(number, 0), all.size());
    int end = (int) Math.min(all.size(), (long) begin + Math.max(countMax, 0));
    return all.subList(begin, end).toArray(new TaskCompletionEvent[0]);
  }
}
