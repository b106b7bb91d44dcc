package org.yunti.hadoop.submit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.yunti.hadoop.warm.WarmStart;

/** Word count of one line, with one map, one reduce and native map output: tries a cluster and its settings. */
final class SmallJob {
  /** Number of its tasks. */
  static final int TASKS = 2;

  /** Counters of the tasks, or null if the job failed. */
  final Counters counters;

  /** Milliseconds from the submission to the end of the job, by the cluster's clock. */
  final long wallMs;

  /** Reason of the failure, or null. */
  final String failure;

  private SmallJob(Counters counters, long wallMs, String failure) {
    this.counters = counters;
    this.wallMs = wallMs;
    this.failure = failure;
  }

  /** Runs the job with these settings, and waits for its end. Its files are removed. */
  static SmallJob run(Configuration settings) throws IOException, InterruptedException, ClassNotFoundException {
    Configuration conf = new Configuration(settings);
    WordCount.useNativeCode(conf);
    WarmStart.apply(conf);
    FileSystem files = FileSystem.get(conf);
    Path folder = new Path("/tmp/yunti-check-" + System.nanoTime());
    try {
      try (FSDataOutputStream out = files.create(new Path(folder, "in/text"))) {
        out.write("a b a\n".getBytes(StandardCharsets.UTF_8));
      }
      Job job = WordCount.job(conf, "yunti hadoop check", new Path(folder, "in"), new Path(folder, "out"));
      job.setJarByClass(Check.class);
      job.setNumReduceTasks(1);
      if (!job.waitForCompletion(false)) {
        return new SmallJob(null, 0, job.getStatus().getFailureInfo());
      }
      JobStatus status = job.getStatus();
      return new SmallJob(job.getCounters(), status.getFinishTime() - status.getStartTime(), null);
    } finally {
      files.delete(folder, true);
    }
  }
}
