package org.yunti.hadoop.runner.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.Test;

final class EventsTest {
  private static final int TASKS = 40;
  private static final int FAILURES_MAX = 4;
  /** Attempts that run at the same time. */
  private static final int SLOTS = 8;
  private static final int POLLED_MAX = 3;
  private static final int SECONDS_MAX = 60;

  private final Events events = new Events();
  private final BlockingQueue<AttemptRun> ended = new LinkedBlockingQueue<>();

  private AttemptRun start(TaskRun task) {
    AttemptRun attempt = new AttemptRun(task, task.nextId(), ended::add);
    task.add(attempt);
    return attempt;
  }

  /** Ends an attempt twice, as code that goes on does. Task n fails n % 6 times; each fifth is killed first. */
  private static void end(AttemptRun attempt) {
    int number = attempt.task.id.getId();
    boolean isKilled = number % 5 == 0 && attempt.id.getId() == 0;
    if (isKilled) {
      attempt.stop(AttemptRun.State.KILLED, "killed");
    }
    int failed = attempt.id.getId() - (number % 5 == 0 ? 1 : 0);
    if (isKilled || failed < number % 6) {
      attempt.fail("failed");
      attempt.succeed("");
    } else {
      attempt.succeed("");
      attempt.fail("late");
    }
  }

  /** Runs all tasks, as a job does, while a client polls. Returns the events as the client got them. */
  private List<TaskCompletionEvent> run(TaskRun[] tasks) throws InterruptedException {
    List<TaskCompletionEvent> polled = new ArrayList<>();
    Deque<TaskRun> waiting = new ArrayDeque<>();
    for (TaskRun task : tasks) {
      waiting.add(task);
    }
    int running = 0;
    for (int left = tasks.length; left > 0;) {
      for (; running < SLOTS && !waiting.isEmpty(); running++) {
        AttemptRun attempt = start(waiting.poll());
        new Thread(() -> end(attempt)).start();
      }
      AttemptRun attempt = ended.poll(SECONDS_MAX, TimeUnit.SECONDS);
      running--;
      events.add(attempt);
      if (attempt.task.status() == TIPStatus.RUNNING) {
        waiting.addFirst(attempt.task);
      } else {
        left--;
      }
      poll(polled);
    }
    while (poll(polled)) {
      // The client gets the rest after the job's end.
    }
    assertEquals(0, ended.size());
    return polled;
  }

  private boolean poll(List<TaskCompletionEvent> polled) {
    TaskCompletionEvent[] next = events.from(polled.size(), POLLED_MAX);
    for (TaskCompletionEvent event : next) {
      polled.add(event);
    }
    return next.length > 0;
  }

  @Test
  void attempts_that_fail_in_parallel_have_an_event_each() throws InterruptedException {
    TaskRun[] tasks = new TaskRun[TASKS];
    for (int i = 0; i < TASKS; i++) {
      tasks[i] = new TaskRun(new TaskID("test", 1, TaskType.MAP, i), null, FAILURES_MAX);
    }
    List<TaskCompletionEvent> all = run(tasks);
    Set<Object> attempts = new HashSet<>();
    Map<Integer, List<Status>> ofTask = new HashMap<>();
    for (int i = 0; i < all.size(); i++) {
      assertEquals(i, all.get(i).getEventId());
      assertTrue(attempts.add(all.get(i).getTaskAttemptId()));
      ofTask.computeIfAbsent(all.get(i).idWithinJob(), task -> new ArrayList<>()).add(all.get(i).getStatus());
    }
    for (int i = 0; i < TASKS; i++) {
      List<Status> want = new ArrayList<>();
      if (i % 5 == 0) {
        want.add(Status.KILLED);
      }
      for (int failed = 1; failed <= Math.min(i % 6, FAILURES_MAX); failed++) {
        want.add(failed == FAILURES_MAX ? Status.TIPFAILED : Status.FAILED);
      }
      if (i % 6 < FAILURES_MAX) {
        want.add(Status.SUCCEEDED);
      }
      assertEquals(want, ofTask.get(i), "task " + i);
      assertEquals(i % 6 < FAILURES_MAX ? TIPStatus.COMPLETE : TIPStatus.FAILED, tasks[i].status());
    }
  }

  @Test
  void numbers_outside_have_no_events() {
    TaskRun task = new TaskRun(new TaskID("test", 1, TaskType.REDUCE, 0), null, 1);
    AttemptRun attempt = start(task);
    attempt.fail("failed");
    events.add(attempt);
    assertEquals(1, events.from(-1, Integer.MAX_VALUE).length);
    assertEquals(0, events.from(1, 1).length);
    assertEquals(0, events.from(0, -1).length);
    assertEquals(Status.TIPFAILED, events.from(0, 1)[0].getStatus());
  }
}
