package org.yunti.hadoop.runner.job;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;

/**
 * Ends of attempts, in their order, for clients that ask for them from a number on. An event's number is its place.
 *
 * <p>None is OBSOLETE, as on a cluster after a lost node: no task runs again after it succeeded.
 */
final class Events {
  private final List<TaskCompletionEvent> all = new ArrayList<>();

  /** Takes the end of an attempt, once, for its task and for clients. */
  synchronized void add(AttemptRun attempt) {
    attempt.task.ended(attempt);
    all.add(new Event(all.size(), attempt));
  }

  private static final class Event extends TaskCompletionEvent {
    Event(int number, AttemptRun attempt) {
      super(number, attempt.id, attempt.id.getTaskID().getId(), attempt.task.isMap(), Events.status(attempt), "");
      setTaskRunTime((int) Math.min(Integer.MAX_VALUE, attempt.finished_ms() - attempt.started_ms));
    }
  }

  private static TaskCompletionEvent.Status status(AttemptRun attempt) {
    switch (attempt.state()) {
      case SUCCEEDED:
        return TaskCompletionEvent.Status.SUCCEEDED;
      case FAILED:
        return attempt.task.status() == TIPStatus.FAILED
            ? TaskCompletionEvent.Status.TIPFAILED : TaskCompletionEvent.Status.FAILED;
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
