package org.yunti.hadoop.report;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;

/** Facts of one task attempt, with times from the application master. */
final class AttemptFacts {
  private static final int EVENTS_AT_ONCE = 1000;

  final String id;
  final boolean isMap;
  final String state;
  final String node;
  /** Milliseconds since 1970. */
  final long start;
  /** Milliseconds. */
  final long elapsed;
  /** Milliseconds since 1970, 0 if unknown. */
  final long shuffled;
  /** Milliseconds since 1970, 0 if unknown. */
  final long merged;
  /** Null for an attempt that did not succeed. */
  final Counters counters;

  AttemptFacts(
      String id,
      boolean isMap,
      String state,
      String node,
      long start,
      long elapsed,
      long shuffled,
      long merged,
      Counters counters) {
    this.id = id;
    this.isMap = isMap;
    this.state = state;
    this.node = node;
    this.start = start;
    this.elapsed = elapsed;
    this.shuffled = shuffled;
    this.merged = merged;
    this.counters = counters;
  }

  /**
   * Returns the successful attempts, from reports that every client may request. For a task with several attempts, a
   * report has only the start of the first and the end of the last. Reports lack the times of lost attempts; if {@code
   * complete} and there are any, returns null.
   */
  static List<AttemptFacts> ofReports(Job job, boolean complete) throws IOException, InterruptedException {
    Map<String, TaskReport> tasks = new HashMap<>();
    for (TaskType type : new TaskType[] {TaskType.MAP, TaskType.REDUCE}) {
      for (TaskReport report : job.getTaskReports(type)) {
        tasks.put(report.getTaskId(), report);
      }
    }
    List<AttemptFacts> attempts = new ArrayList<>();
    for (int from = 0; ; ) {
      TaskCompletionEvent[] events = job.getTaskCompletionEvents(from, EVENTS_AT_ONCE);
      for (TaskCompletionEvent event : events) {
        TaskReport task = tasks.get(event.getTaskAttemptId().getTaskID().toString());
        boolean succeeded = event.getStatus() == TaskCompletionEvent.Status.SUCCEEDED && task != null;
        if (complete && !(succeeded && event.getTaskAttemptId().getId() == 0)) {
          return null;
        }
        if (succeeded) {
          attempts.add(of(event, task));
        }
      }
      from += events.length;
      if (events.length == 0) {
        return attempts;
      }
    }
  }

  private static AttemptFacts of(TaskCompletionEvent event, TaskReport task) {
    long elapsed = task.getFinishTime() - task.getStartTime();
    long total = TaskTime.total(task.getTaskCounters());
    if (event.getTaskAttemptId().getId() > 0 && total > 0) {
      elapsed = Math.min(elapsed, total);
    }
    return new AttemptFacts(
        event.getTaskAttemptId().toString(),
        event.isMapTask(),
        "succeeded",
        host(event.getTaskTrackerHttp()),
        task.getFinishTime() - elapsed,
        elapsed,
        0,
        0,
        task.getTaskCounters());
  }

  private static String host(String address) {
    if (address == null || address.isEmpty()) {
      return "";
    }
    String host = URI.create(address.contains("://") ? address : "http://" + address).getHost();
    return host == null ? address : host;
  }
}
