package org.yunti.hadoop.runner.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobPriority;
import org.apache.hadoop.mapreduce.JobStatus;
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

  /** Returns the ends of attempts, from a number on. */
  public TaskCompletionEvent[] events(int from, int countMax) {
    List<TaskCompletionEvent> events = new ArrayList<>();
    int number = 0;
    for (TaskInfo task : info.getAllTasks().values()) {
      for (TaskAttemptInfo attempt : task.getAllTaskAttempts().values()) {
        TaskCompletionEvent.Status status = "SUCCEEDED".equals(attempt.getTaskStatus())
            ? TaskCompletionEvent.Status.SUCCEEDED : "FAILED".equals(attempt.getTaskStatus())
                ? TaskCompletionEvent.Status.FAILED : TaskCompletionEvent.Status.KILLED;
        if (number >= from && events.size() < countMax) {
          events.add(new TaskCompletionEvent(number, attempt.getAttemptId(), task.getTaskId().getId(),
              task.getTaskType() == TaskType.MAP, status, ""));
        }
        number++;
      }
    }
    return events.toArray(new TaskCompletionEvent[0]);
  }
}
