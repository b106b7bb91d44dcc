package org.yunti.hadoop.report;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.JobInfo;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.TaskAttemptInfo;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.TaskInfo;
import org.apache.hadoop.security.AccessControlException;

/** History file of a job, as {@code mapred job -history} reads it, and the job's configuration beside it. */
final class JobHistory {
  private static final long PERIOD_MS = 250;
  /**
   * Milliseconds to wait for the history: for a few seconds after its job, an application master answers without its
   * address.
   */
  private static final long WAIT_MS = 15_000;

  final List<AttemptFacts> attempts;
  final long submitted;
  final long finished;
  final Configuration conf;

  private JobHistory(List<AttemptFacts> attempts, long submitted, long finished, Configuration conf) {
    this.attempts = attempts;
    this.submitted = submitted;
    this.finished = finished;
    this.conf = conf;
  }

  /** Reads the history of a job. Returns null if there is none that this user may read. */
  static JobHistory read(Job job) throws IOException, InterruptedException {
    for (long waited = 0; ; waited += PERIOD_MS) {
      String url = job.getHistoryUrl();
      if (url != null && !url.isEmpty()) {
        Path file = new Path(url);
        try {
          FileSystem files = file.getFileSystem(job.getConfiguration());
          Configuration conf = new Configuration(false);
          try (FSDataInputStream in = files.open(new Path(file.getParent(), job.getJobID() + "_conf.xml"))) {
            conf.addResource(in);
            conf.size();
          }
          return of(new JobHistoryParser(files, file).parse(), conf);
        } catch (AccessControlException e) {
          return null;
        } catch (FileNotFoundException e) {
          // The history server has moved the file and knows its new address.
          if (waited >= WAIT_MS) {
            return null;
          }
        }
      } else if (waited >= WAIT_MS) {
        return null;
      }
      Thread.sleep(PERIOD_MS);
    }
  }

  private static JobHistory of(JobInfo info, Configuration conf) {
    List<AttemptFacts> attempts = new ArrayList<>();
    for (TaskInfo task : info.getAllTasks().values()) {
      if (task.getTaskType() == TaskType.MAP || task.getTaskType() == TaskType.REDUCE) {
        task.getAllTaskAttempts().values().forEach(attempt -> attempts.add(of(attempt)));
      }
    }
    attempts.sort(Comparator.comparing((AttemptFacts attempt) -> attempt.start).thenComparing(attempt -> attempt.id));
    return new JobHistory(attempts, info.getSubmitTime(), info.getFinishTime(), conf);
  }

  private static AttemptFacts of(TaskAttemptInfo attempt) {
    boolean succeeded = "SUCCEEDED".equals(attempt.getTaskStatus());
    // If the application master ended before the attempt, its end was not recorded.
    long end = Math.max(attempt.getStartTime(), attempt.getFinishTime());
    String node = attempt.getHostname() == null ? "" : attempt.getHostname();
    return new AttemptFacts(
        attempt.getAttemptId().toString(),
        attempt.getTaskType() == TaskType.MAP,
        attempt.getTaskStatus() == null ? "killed" : attempt.getTaskStatus(),
        // The rack precedes the host.
        node.substring(node.lastIndexOf('/') + 1),
        attempt.getStartTime(),
        end - attempt.getStartTime(),
        succeeded ? Math.max(0, attempt.getShuffleFinishTime()) : 0,
        succeeded ? Math.max(0, attempt.getSortFinishTime()) : 0,
        succeeded ? attempt.getCounters() : null);
  }
}
