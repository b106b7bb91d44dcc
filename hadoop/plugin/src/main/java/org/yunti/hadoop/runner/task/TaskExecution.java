package org.yunti.hadoop.runner.task;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.attempt.AttemptControl;
import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.attempt.TaskOrder;

/** Run of one attempt in the present thread, in the JVM of its job or in a worker. */
public final class TaskExecution {
  private static final Logger LOG = LoggerFactory.getLogger(TaskExecution.class);

  private final TaskOrder order;
  private final JobConf conf;
  private final AttemptControl control;
  private final AttemptUmbilical umbilical;
  private volatile Task task;

  /**
   * Prepares a run.
   *
   * @param job the job's settings; they are copied
   * @param loader of the job's classes
   */
  public TaskExecution(TaskOrder order, JobConf job, ClassLoader loader, AttemptControl control,
      AttemptUmbilical umbilical) {
    this.order = order;
    this.control = control;
    this.umbilical = umbilical;
    conf = new JobConf(job);
    conf.setClassLoader(loader);
    conf.setCredentials(job.getCredentials());
    conf.set(MRConfig.LOCAL_DIR, order.localDirectories());
  }

  /** Runs the attempt. If it fails, its committer removes the output, and the failure is thrown. */
  public void run() throws Exception {
    task = order.split() != null
        ? new MapAttempt(order.jobFile(), order.id(), order.split(), control)
        : new ReduceAttempt(order.jobFile(), order.id(), mapOutputs(), control);
    task.setEncryptedSpillKey(TokenCache.getEncryptedSpillKey(conf.getCredentials()));
    task.localizeConfiguration(conf);
    task.setConf(conf);
    boolean isDone = false;
    try {
      task.run(conf, umbilical.line());
      isDone = true;
    } finally {
      if (!isDone) {
        abort((Attempt) task);
      }
    }
  }

  private static void abort(Attempt attempt) {
    boolean wasInterrupted = Thread.interrupted();
    try {
      attempt.abort();
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("the committer could not abort an attempt", e);
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private Map<TaskAttemptID, MapOutputFile> mapOutputs() {
    Map<TaskAttemptID, MapOutputFile> outputs = new LinkedHashMap<>();
    for (Map.Entry<TaskAttemptID, String> map : order.mapDirectories().entrySet()) {
      JobConf ofMap = new JobConf(false);
      ofMap.set(MRConfig.LOCAL_DIR, map.getValue());
      MapOutputFile output = new MROutputFiles();
      output.setConf(ofMap);
      outputs.put(map.getKey(), output);
    }
    return outputs;
  }

  /** Returns the state of the moment. */
  public AttemptState state() {
    Task running = task;
    TaskStatus status = umbilical.status();
    return new AttemptState(running == null ? 0 : running.getProgress().get(),
        running == null ? "" : running.getProgress().toString(), status);
  }
}
