package org.yunti.hadoop.runner.record;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * History file of a job in Hadoop's own format ({@code .jhist}), as {@code mapred job -history} reads it: the name of
 * the encoding, the Avro schema, and an event a line.
 *
 * <p>Written without Avro and Jackson: loading them takes longer than a small job, and programs bring versions of
 * theirs that do not fit each other. The schema is the same in Hadoop 3.1 to 3.5.
 */
public final class HistoryFile implements Closeable {
  private static final String ENCODING = "Avro-Json";
  private static final String SCHEMA = "jhist.avsc";
  /** Ports of a node manager; this machine has none. */
  private static final int NO_PORT = -1;
  private static final String RACK = "/default-rack";
  private static final String NO_CONTAINER = "container_0_0000_01_000000";

  private final File file;
  private final File part;
  private final Writer out;
  private final String host;

  /** @param host name of this machine */
  public HistoryFile(JobRecord record, String host) throws IOException {
    record.make();
    this.host = host;
    file = record.history();
    part = new File(file.getPath() + ".part");
    out = Files.newBufferedWriter(part.toPath(), StandardCharsets.UTF_8);
    out.write(ENCODING + "\n" + schema() + "\n");
  }

  /** Returns the schema in one line. */
  private static String schema() throws IOException {
    StringBuilder line = new StringBuilder();
    try (InputStream in = HistoryFile.class.getResourceAsStream(SCHEMA);
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String next = lines.readLine(); next != null; next = lines.readLine()) {
        line.append(next.trim());
      }
    }
    return line.toString();
  }

  /** Writes the beginning of the job. Times are milliseconds since 1970. */
  public void job(JobID id, JobConf conf, File settings, long started_ms, int maps, int reduces) throws IOException {
    write(new HistoryEvent("JOB_SUBMITTED", "JobSubmitted").put("jobid", id.toString())
        .put("jobName", conf.getJobName()).put("userName", String.valueOf(conf.getUser()))
        .put("submitTime", started_ms).put("jobConfPath", settings.toURI().toString()).noRights()
        .put("jobQueueName", conf.getQueueName()).optional("workflowId", null).optional("workflowName", null)
        .optional("workflowNodeName", null).optional("workflowAdjacencies", null).optional("workflowTags", null));
    write(new HistoryEvent("JOB_INFO_CHANGED", "JobInfoChange").put("jobid", id.toString())
        .put("submitTime", started_ms).put("launchTime", started_ms));
    write(new HistoryEvent("JOB_INITED", "JobInited").put("jobid", id.toString()).put("launchTime", started_ms)
        .put("totalMaps", maps).put("totalReduces", reduces).put("jobStatus", "INITED").put("uberized", false));
  }

  /** @param hosts of the split, separated by commas */
  public void taskStarted(TaskID id, long ms, String hosts) throws IOException {
    write(new HistoryEvent("TASK_STARTED", "TaskStarted").put("taskid", id.toString())
        .put("taskType", id.getTaskType().name()).put("startTime", ms).put("splitLocations", hosts));
  }

  public void attemptStarted(TaskAttemptID id, long ms) throws IOException {
    write(new HistoryEvent(id.getTaskType() + "_ATTEMPT_STARTED", "TaskAttemptStarted")
        .put("taskid", id.getTaskID().toString()).put("taskType", id.getTaskType().name())
        .put("attemptId", id.toString()).put("startTime", ms).put("trackerName", host).put("httpPort", NO_PORT)
        .put("shufflePort", NO_PORT).put("containerId", NO_CONTAINER).optional("locality", "NODE_LOCAL")
        .optional("avataar", "VIRGIN"));
  }

  /**
   * Writes the end of an attempt that succeeded.
   *
   * @param phases_ms ends of the phases: for a map, the mapper; for a reduce, the copy and the sort
   */
  public void attemptSucceeded(TaskAttemptID id, long[] phases_ms, long ms, String state, Counters counters)
      throws IOException {
    boolean isMap = id.getTaskType() == TaskType.MAP;
    HistoryEvent event = new HistoryEvent(id.getTaskType() + "_ATTEMPT_FINISHED",
        isMap ? "MapAttemptFinished" : "ReduceAttemptFinished");
    event.put("taskid", id.getTaskID().toString()).put("attemptId", id.toString())
        .put("taskType", id.getTaskType().name()).put("taskStatus", "SUCCEEDED");
    if (isMap) {
      event.put("mapFinishTime", phases_ms[0]);
    } else {
      event.put("shuffleFinishTime", phases_ms[0]).put("sortFinishTime", phases_ms[1]);
    }
    write(event.put("finishTime", ms).put("hostname", host).put("port", NO_PORT).put("rackname", RACK)
        .put("state", state).put("counters", "COUNTERS", counters).noSamples());
  }

  /** @param status FAILED or KILLED */
  public void attemptEnded(TaskAttemptID id, String status, long ms, String message, Counters counters)
      throws IOException {
    write(new HistoryEvent(id.getTaskType() + "_ATTEMPT_" + status, "TaskAttemptUnsuccessfulCompletion")
        .put("taskid", id.getTaskID().toString()).put("taskType", id.getTaskType().name())
        .put("attemptId", id.toString()).put("finishTime", ms).put("hostname", host).put("port", NO_PORT)
        .put("rackname", RACK).put("status", status).put("error", message).optional("counters", "COUNTERS", counters)
        .noSamples());
  }

  public void taskSucceeded(TaskID id, TaskAttemptID attempt, long ms, Counters counters) throws IOException {
    write(new HistoryEvent("TASK_FINISHED", "TaskFinished").put("taskid", id.toString())
        .put("taskType", id.getTaskType().name()).put("finishTime", ms).put("status", "SUCCEEDED")
        .put("counters", "COUNTERS", counters).optional("successfulAttemptId", attempt.toString()));
  }

  /** @param status FAILED or KILLED */
  public void taskEnded(TaskID id, String status, long ms, String message, TaskAttemptID attempt) throws IOException {
    write(new HistoryEvent("TASK_FAILED", "TaskFailed").put("taskid", id.toString())
        .put("taskType", id.getTaskType().name()).put("finishTime", ms).put("error", message)
        .optional("failedDueToAttempt", attempt.toString()).put("status", status)
        .optional("counters", "COUNTERS", new Counters()));
  }

  public void jobSucceeded(JobID id, long ms, int maps, int reduces, Counters ofMaps, Counters ofReduces,
      Counters total) throws IOException {
    write(new HistoryEvent("JOB_FINISHED", "JobFinished").put("jobid", id.toString()).put("finishTime", ms)
        .put("finishedMaps", maps).put("finishedReduces", reduces).put("failedMaps", 0).put("failedReduces", 0)
        .put("totalCounters", "TOTAL_COUNTERS", total).put("mapCounters", "MAP_COUNTERS", ofMaps)
        .put("reduceCounters", "REDUCE_COUNTERS", ofReduces).put("killedMaps", 0).put("killedReduces", 0));
  }

  /** @param status FAILED or KILLED */
  public void jobEnded(JobID id, long ms, int maps, int reduces, String status, String message) throws IOException {
    write(new HistoryEvent("JOB_" + status, "JobUnsuccessfulCompletion").put("jobid", id.toString())
        .put("finishTime", ms).put("finishedMaps", maps).put("finishedReduces", reduces).put("jobStatus", status)
        .optional("diagnostics", message).put("failedMaps", 0).put("failedReduces", 0).put("killedMaps", 0)
        .put("killedReduces", 0));
  }

  private void write(HistoryEvent event) throws IOException {
    out.write(event.line());
  }

  /** Makes the file complete; it has its name only then. */
  @Override
  public void close() throws IOException {
    out.close();
    if (!part.renameTo(file)) {
      throw new IOException("cannot rename " + part);
    }
  }
}
