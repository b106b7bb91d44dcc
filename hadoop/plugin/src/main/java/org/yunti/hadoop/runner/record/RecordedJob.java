package org.yunti.hadoop.runner.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobPriority;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.JobInfo;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.TaskAttemptInfo;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.TaskInfo;

/** Job of an earlier program, known from its record alone. */
public final class RecordedJob {
  private final JobRecord record;
  private final JobInfo info;

  private RecordedJob(JobRecord record, JobInfo info) {
    this.record = record;
    this.info = info;
  }

  /** Reads the record of a job. Returns null if there is none. */
  public static RecordedJob find(Configuration conf, JobID id) throws IOException {
    JobRecord record = new JobRecord(conf, id.toString());
    if (!record.history().isFile()) {
      return null;
    }
    return new RecordedJob(record,
        new JobHistoryParser(FileSystem.getLocal(conf), new Path(record.history().toURI())).parse());
  }

  public JobStatus status() {
    return new Status(this);
  }

  private static final class Status extends JobStatus {
    Status(RecordedJob job) {
      super(job.info.getJobId(), 1, 1, 1, 1, State.valueOf(job.info.getJobStatus()), JobPriority.NORMAL,
          job.info.getUsername(), job.info.getJobname(), job.info.getJobQueueName(),
          new Path(job.record.settings().toURI()).toString(), job.record.url(), false,
          job.record.history().toURI().toString());
      setStartTime(job.info.getSubmitTime());
      setFinishTime(job.info.getFinishTime());
      setUsername(job.info.getUsername());
      setFailureInfo(String.valueOf(job.info.getErrorInfo()));
    }
  }

  public Counters counters() {
    return info.getTotalCounters();
  }

  public TaskReport[] reports(TaskType type) {
    List<TaskReport> reports = new ArrayList<>();
    for (TaskInfo task : info.getAllTasks().values()) {
      if (task.getTaskType() == type) {
        TIPStatus status = "SUCCEEDED".equals(task.getTaskStatus()) ? TIPStatus.COMPLETE
            : "FAILED".equals(task.getTaskStatus()) ? TIPStatus.FAILED : TIPStatus.KILLED;
        reports.add(new TaskReport(org.apache.hadoop.mapred.TaskID.downgrade(task.getTaskId()), 1, String.valueOf(task.getTaskStatus()),
            new String[] {String.valueOf(task.getError())}, status, task.getStartTime(), task.getFinishTime(),
            task.getCounters()));
      }
    }
    return reports.toArray(new TaskReport[0]);
  }

  /** Returns the ends of attempts, in their order, from a number on. */
  public TaskCompletionEvent[] events(int from, int countMax) {
    List<TaskAttemptInfo> attempts = new ArrayList<>();
    for (TaskInfo task : info.getAllTasks().values()) {
      attempts.addAll(task.getAllTaskAttempts().values());
    }
    attempts.sort(Comparator.comparingLong(TaskAttemptInfo::getFinishTime)
        .thenComparing(TaskAttemptInfo::getAttemptId));
    List<TaskCompletionEvent> events = new ArrayList<>();
    for (int i = Math.max(from, 0); i < attempts.size() && events.size() < countMax; i++) {
      TaskAttemptID id = attempts.get(i).getAttemptId();
      events.add(new TaskCompletionEvent(i, id, id.getTaskID().getId(), id.getTaskType() == TaskType.MAP,
          status(attempts.get(i)), ""));
    }
    return events.toArray(new TaskCompletionEvent[0]);
  }

  private TaskCompletionEvent.Status status(TaskAttemptInfo attempt) {
    switch (attempt.getTaskStatus()) {
      case "SUCCEEDED":
        return TaskCompletionEvent.Status.SUCCEEDED;
      case "FAILED":
        TaskInfo task = info.getAllTasks().get(attempt.getAttemptId().getTaskID());
        boolean isLast = "FAILED".equals(task.getTaskStatus())
            && attempt.getAttemptId().equals(task.getFailedDueToAttemptId());
        return isLast ? TaskCompletionEvent.Status.TIPFAILED : TaskCompletionEvent.Status.FAILED;
      default:
        return TaskCompletionEvent.Status.KILLED;
    }
  }
}
