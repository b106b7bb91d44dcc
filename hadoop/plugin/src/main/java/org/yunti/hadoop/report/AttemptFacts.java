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

/**
 * One attempt of a task. Times are the application master's: {@code start}, {@code shuffled} and {@code merged} in milliseconds since
 * 1970, the latter two 0 where nobody knows them. No counters: it did not succeed.
 */
record AttemptFacts(
    String id,
    boolean isMap,
    String state,
    String node,
    long start,
    long elapsed,
    long shuffled,
    long merged,
    Counters counters) {
  private static final int EVENTS_AT_ONCE = 1000;

  /**
   * The successful attempts, from what every client may ask. Of a task with several it says when the first one began and the last one
   * ended, and of attempts that were lost it tells no time: then there is null if {@code complete}.
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
