package org.yunti.hadoop.runner.job;

import java.io.IOException;
import java.net.InetAddress;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobStatus;
import org.yunti.hadoop.runner.record.HistoryFile;
import org.yunti.hadoop.runner.record.JobRecord;

/** Writing of a job's history after its end. */
final class JobHistory {
  private JobHistory() {}

  /** Writes the history of a job. */
  static void write(JobRecord record, JobID id, JobConf conf, long started_ms, long finished_ms, JobStatus.State state,
      String failure, TaskRun[] maps, TaskRun[] reduces) throws IOException {
    try (HistoryFile file = new HistoryFile(record, InetAddress.getLocalHost().getHostName())) {
      file.job(id, conf, record.settings(), started_ms, maps.length, reduces.length);
      int succeededMaps = write(file, maps);
      int succeededReduces = write(file, reduces);
      if (state == JobStatus.State.SUCCEEDED) {
        file.jobSucceeded(id, finished_ms, succeededMaps, succeededReduces, sum(maps), sum(reduces),
            new Counters(JobTotals.of(maps, reduces)));
      } else {
        file.jobEnded(id, finished_ms, succeededMaps, succeededReduces, state.name(), failure);
      }
    }
  }

  private static int write(HistoryFile file, TaskRun[] tasks) throws IOException {
    int succeeded = 0;
    for (TaskRun task : tasks) {
      AttemptRun last = task.last();
      if (last == null) {
        continue;
      }
      file.taskStarted(task.id, task.attempts().get(0).started_ms, hosts(task));
      for (AttemptRun attempt : task.attempts()) {
        write(file, attempt);
      }
      if (task.status() == TIPStatus.COMPLETE) {
        succeeded++;
        file.taskSucceeded(task.id, last.id, last.finished_ms(), new Counters(last.counters()));
      } else {
        String status = task.status() == TIPStatus.FAILED ? "FAILED" : "KILLED";
        file.taskEnded(task.id, status, last.finished_ms(), last.diagnostics(), last.id);
      }
    }
    return succeeded;
  }

  private static void write(HistoryFile file, AttemptRun attempt) throws IOException {
    file.attemptStarted(attempt.id, attempt.started_ms);
    Counters counters = new Counters(attempt.counters());
    if (attempt.state() == AttemptRun.State.SUCCEEDED) {
      file.attemptSucceeded(attempt.id, phases(attempt), attempt.finished_ms(), attempt.now().text(), counters);
    } else {
      file.attemptEnded(attempt.id, attempt.state().name(), attempt.finished_ms(), attempt.diagnostics(), counters);
    }
  }

  private static long[] phases(AttemptRun attempt) {
    long[] all = attempt.now().phases_ms();
    long[] ends = attempt.task.isMap() ? new long[] {all[0]} : new long[] {all[1], all[2]};
    long last = attempt.started_ms;
    for (int i = 0; i < ends.length; i++) {
      last = Math.max(last, ends[i]);
      ends[i] = last;
    }
    return ends;
  }

  private static String hosts(TaskRun task) {
    return task.split == null ? "" : String.join(",", task.split.getLocations());
  }

  private static Counters sum(TaskRun[] tasks) {
    org.apache.hadoop.mapred.Counters sum = new org.apache.hadoop.mapred.Counters();
    for (TaskRun task : tasks) {
      sum.incrAllCounters(task.counters());
    }
    return new Counters(sum);
  }
}
