package org.yunti.hadoop.conformance.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.LocalJobRunner;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.CounterGroup;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;

/**
 * Jobs submitted since the start of the recording.
 *
 * <p>Static, because Hadoop constructs the {@link RecordingProvider} itself, without arguments. One case runs at a
 * time.
 */
final class JobRecorder {
  private record Submitted(ClientProtocol client, JobID id, String mapper, int maps, int reduces) {}

  private static final int EVENTS_MAX = 10_000;
  private static final List<Submitted> JOBS = new ArrayList<>();
  private static Configuration base;

  private JobRecorder() {}

  /** @param newBase configuration that finds the file system of a job's folder */
  static synchronized void start(Configuration newBase) {
    base = newBase;
    JOBS.clear();
  }

  static synchronized void submitted(ClientProtocol client, JobID id, String submitFolder) throws IOException {
    Configuration job = new Configuration(false);
    Path file = new Path(submitFolder, "job.xml");
    try (FSDataInputStream in = file.getFileSystem(base).open(file)) {
      job.addResource(in);
      // The client computes the splits before it writes the file, so the number of maps is final.
      JOBS.add(new Submitted(client, id, job.get(MRJobConfig.MAP_CLASS_ATTR), job.getInt(MRJobConfig.NUM_MAPS, 0),
          job.getInt(MRJobConfig.NUM_REDUCES, 1)));
    }
  }

  /** Requests the end state of every recorded job, in the order of submission. */
  static synchronized List<Outcome.JobResult> results(TaskFailures failures)
      throws IOException, InterruptedException {
    List<Outcome.JobResult> results = new ArrayList<>();
    for (Submitted job : JOBS) {
      JobStatus status = job.client.getJobStatus(job.id);
      boolean succeeded = status != null && status.getState() == JobStatus.State.SUCCEEDED;
      List<String> causes = succeeded ? List.of() : causes(job, failures);
      results.add(new Outcome.JobResult(job.mapper, job.maps, job.reduces, succeeded, causes,
          counters(job.client.getJobCounters(job.id))));
    }
    return results;
  }

  private static List<String> causes(Submitted job, TaskFailures failures)
      throws IOException, InterruptedException {
    if (job.client instanceof LocalJobRunner) {
      return failures.of(job.id.toString());
    }
    // On a cluster, failed attempts report "Error: CLASS: MESSAGE" and a stack. The history server has it for attempts
    // only, not for tasks.
    List<String> reported = new ArrayList<>();
    for (TaskCompletionEvent event : job.client.getTaskCompletionEvents(job.id, 0, EVENTS_MAX)) {
      if (event.getStatus() == TaskCompletionEvent.Status.FAILED || event.getStatus() == TaskCompletionEvent.Status.TIPFAILED) {
        for (String diagnostic : job.client.getTaskDiagnostics(event.getTaskAttemptId())) {
          for (String line : diagnostic.split("\n")) {
            if (line.startsWith("Error: ") || line.startsWith("Caused by: ")) {
              reported.add(line.substring(line.indexOf(' ', line.indexOf(':')) + 1));
            }
          }
        }
      }
    }
    return reported;
  }

  private static Map<String, Long> counters(Counters counters) {
    Map<String, Long> values = new TreeMap<>();
    if (counters != null) {
      for (CounterGroup group : counters) {
        String name = group.getName().substring(group.getName().lastIndexOf('.') + 1);
        for (Counter counter : group) {
          values.put(name + ":" + counter.getName(), counter.getValue());
        }
      }
    }
    return values;
  }
}
