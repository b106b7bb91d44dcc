package org.yunti.hadoop.runner.job;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.yunti.hadoop.runner.attempt.BadRecords;

/** One task of a job, with its attempts. */
final class TaskRun {
  final TaskID id;
  /** Null for a reduce. */
  final TaskSplitMetaInfo split;
  /** Failed attempts with which the task fails. */
  private final int failuresMax;

  private final List<AttemptRun> attempts = new ArrayList<>();
  private AttemptRun committing;
  private TIPStatus status = TIPStatus.PENDING;
  private int failures;
  /** Records at which user code failed, in ascending order. */
  private final SortedSet<Long> bad = new TreeSet<>();

  TaskRun(TaskID id, TaskSplitMetaInfo split, int failuresMax) {
    this.id = id;
    this.split = split;
    this.failuresMax = failuresMax;
  }

  boolean isMap() {
    return id.getTaskType() == TaskType.MAP;
  }

  /** Returns the identifier of the next attempt. */
  synchronized TaskAttemptID nextId() {
    return new TaskAttemptID(id, attempts.size());
  }

  synchronized void add(AttemptRun attempt) {
    attempts.add(attempt);
    status = TIPStatus.RUNNING;
    committing = null;
  }

  /** Returns true for the attempt that may commit. */
  synchronized boolean mayCommit(AttemptRun attempt) {
    // A stopped attempt whose code goes on must not take the place of the next one.
    if (!attempt.isRunning() || attempt.isStopping()) {
      return false;
    }
    if (committing == null) {
      committing = attempt;
    }
    return committing == attempt;
  }

  /**
   * Takes the end of an attempt, once. The task is complete or fails with it; otherwise it goes on running, and needs
   * another attempt.
   */
  synchronized void ended(AttemptRun attempt) {
    if (attempt.state() == AttemptRun.State.SUCCEEDED) {
      status = TIPStatus.COMPLETE;
    } else if (attempt.state() == AttemptRun.State.FAILED) {
      if (attempt.record() != BadRecords.NONE) {
        bad.add(attempt.record());
      }
      failures++;
      if (failures >= failuresMax) {
        status = TIPStatus.FAILED;
      }
    }
  }

  /**
   * Returns the records at which user code failed, for an attempt that skips them; null if it does not.
   *
   * @param skips true if the job skips bad records
   */
  synchronized long[] bad(boolean skips, int failuresBefore) {
    if (!skips || failures < failuresBefore) {
      return null;
    }
    long[] numbers = new long[bad.size()];
    int i = 0;
    for (long number : bad) {
      numbers[i++] = number;
    }
    return numbers;
  }

  synchronized void end(TIPStatus newStatus) {
    status = newStatus;
  }

  synchronized TIPStatus status() {
    return status;
  }

  synchronized List<AttemptRun> attempts() {
    return new ArrayList<>(attempts);
  }

  synchronized AttemptRun last() {
    return attempts.isEmpty() ? null : attempts.get(attempts.size() - 1);
  }

  /** Returns the share of the work that is done, from 0 to 1. */
  float progress() {
    TIPStatus now = status();
    if (now == TIPStatus.COMPLETE || now == TIPStatus.FAILED || now == TIPStatus.KILLED) {
      return 1;
    }
    AttemptRun attempt = last();
    return attempt == null || !attempt.isRunning() ? 0 : attempt.now().progress();
  }

  /** Returns the counters of the attempt that succeeded, or of the one that runs. */
  Counters counters() {
    AttemptRun attempt = last();
    boolean counts = attempt != null && (attempt.isRunning() || attempt.state() == AttemptRun.State.SUCCEEDED);
    return counts ? attempt.counters() : new Counters();
  }

  TaskReport report() {
    return new Report(this);
  }

  /** Hadoop's report of a task, with the identifiers of its attempts. */
  private static final class Report extends TaskReport {
    Report(TaskRun task) {
      super(task.id, task.progress(), state(task), diagnostics(task), task.status(), started_ms(task),
          finished_ms(task), new org.apache.hadoop.mapreduce.Counters(task.counters()));
      List<org.apache.hadoop.mapreduce.TaskAttemptID> now = new ArrayList<>();
      for (AttemptRun attempt : task.attempts()) {
        if (attempt.isRunning()) {
          now.add(attempt.id);
        } else if (attempt.state() == AttemptRun.State.SUCCEEDED) {
          setSuccessfulAttemptId(attempt.id);
        }
      }
      setRunningTaskAttemptIds(now);
    }

    private static String state(TaskRun task) {
      AttemptRun last = task.last();
      return last == null ? "" : last.now().text();
    }

    private static String[] diagnostics(TaskRun task) {
      List<String> lines = new ArrayList<>();
      for (AttemptRun attempt : task.attempts()) {
        if (!attempt.diagnostics().isEmpty()) {
          lines.add(attempt.diagnostics());
        }
      }
      return lines.toArray(new String[0]);
    }

    private static long started_ms(TaskRun task) {
      List<AttemptRun> attempts = task.attempts();
      return attempts.isEmpty() ? 0 : attempts.get(0).started_ms;
    }

    private static long finished_ms(TaskRun task) {
      AttemptRun last = task.last();
      return last == null ? 0 : last.finished_ms();
    }
  }
}
