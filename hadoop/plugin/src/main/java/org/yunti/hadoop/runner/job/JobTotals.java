package org.yunti.hadoop.runner.job;

import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapreduce.JobCounter;

/** Counters of a job: sums over its tasks, and the figures of its attempts as the cluster's master counts them. */
final class JobTotals {
  private JobTotals() {}

  static Counters of(TaskRun[] maps, TaskRun[] reduces) {
    Counters sum = new Counters();
    addAttempts(sum, maps, JobCounter.TOTAL_LAUNCHED_MAPS, JobCounter.NUM_FAILED_MAPS, JobCounter.NUM_KILLED_MAPS,
        JobCounter.MILLIS_MAPS);
    addAttempts(sum, reduces, JobCounter.TOTAL_LAUNCHED_REDUCES, JobCounter.NUM_FAILED_REDUCES,
        JobCounter.NUM_KILLED_REDUCES, JobCounter.MILLIS_REDUCES);
    return sum;
  }

  private static void addAttempts(Counters sum, TaskRun[] tasks, JobCounter launched, JobCounter failed,
      JobCounter killed, JobCounter millis) {
    for (TaskRun task : tasks) {
      sum.incrAllCounters(task.counters());
      for (AttemptRun attempt : task.attempts()) {
        sum.incrCounter(launched, 1);
        AttemptRun.State state = attempt.state();
        if (state == AttemptRun.State.RUNNING) {
          continue;
        }
        sum.incrCounter(millis, attempt.finished_ms() - attempt.started_ms);
        if (state == AttemptRun.State.FAILED) {
          sum.incrCounter(failed, 1);
        } else if (state == AttemptRun.State.KILLED) {
          sum.incrCounter(killed, 1);
        }
      }
    }
  }
}
