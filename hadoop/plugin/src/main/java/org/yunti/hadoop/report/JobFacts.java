package org.yunti.hadoop.report;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.CounterGroup;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.yunti.hadoop.JsonWriter;
import org.yunti.hadoop.runner.RunnerProvider;
import org.yunti.hadoop.runner.RunnerSettings;

/**
 * Facts of a finished job, as one JSON document (docs/formats/job-facts.md). {@code yunti report} renders the report
 * from it: all rules of the report are in the engine.
 */
final class JobFacts {
  private static final String FORMAT = "yunti-job-facts/1";

  /** Counters written for each attempt, besides the times. */
  private static final Set<TaskCounter> ATTEMPT_COUNTERS =
      EnumSet.of(
          TaskCounter.CPU_MILLISECONDS,
          TaskCounter.GC_TIME_MILLIS,
          TaskCounter.PHYSICAL_MEMORY_BYTES,
          TaskCounter.REDUCE_INPUT_RECORDS,
          TaskCounter.REDUCE_SHUFFLE_BYTES,
          TaskCounter.REDUCE_OUTPUT_RECORDS);

  private final Job job;
  private final Configuration conf;
  private final JobStatus status;
  private final Counters counters;
  private final List<AttemptFacts> attempts;
  private final long submitted;
  private final long finished;

  private JobFacts(
      Job job, Configuration conf, JobStatus status, List<AttemptFacts> attempts, long submitted, long finished)
      throws IOException {
    this.job = job;
    counters = job.getCounters();
    this.conf = conf;
    this.status = status;
    this.attempts = attempts;
    this.submitted = submitted;
    this.finished = finished;
  }

  /**
   * Returns the facts of a job that this client submitted and saw ending. {@code submitted} is the client's clock, in
   * milliseconds since 1970. If each task had one attempt, the application master's last reports suffice; otherwise the
   * history is read.
   */
  static JobFacts ofSubmitted(Job job, long submitted) throws IOException, InterruptedException {
    List<AttemptFacts> attempts = AttemptFacts.ofReports(job, true);
    JobStatus status = job.getStatus();
    return attempts == null
        ? ofHistory(job)
        : new JobFacts(
            job,
            job.getConfiguration(),
            status,
            attempts,
            Math.min(submitted, status.getStartTime()),
            status.getFinishTime());
  }

  /** Returns the facts of any finished job, from its history or, if unreadable, from the reports. */
  static JobFacts ofHistory(Job job) throws IOException, InterruptedException {
    JobHistory history = JobHistory.read(job);
    if (history == null) {
      JobStatus status = job.getStatus();
      List<AttemptFacts> attempts = AttemptFacts.ofReports(job, false);
      return new JobFacts(
          job, job.getConfiguration(), status, attempts, status.getStartTime(), status.getFinishTime());
    }
    return new JobFacts(
        job, history.conf, job.getStatus(), history.attempts, history.submitted, history.finished);
  }

  /** Writes the document; {@code before} has the facts of the earlier jobs of a chain. */
  void write(File file, List<JobFacts> before) throws IOException {
    OutputStream bytes = new BufferedOutputStream(new FileOutputStream(file));
    try (JsonWriter out = new JsonWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8))) {
      write(out, before);
    }
  }

  private void write(JsonWriter out, List<JobFacts> before) throws IOException {
    out.beginObject();
    out.field("format", FORMAT);
    out.field("id", job.getJobID().toString());
    out.field("name", job.getJobName());
    out.field("state", status.getState().name().toLowerCase(Locale.ROOT));
    out.field("failure", status.getState() == JobStatus.State.SUCCEEDED ? "" : status.getFailureInfo());
    out.field("submitted_unix_ms", submitted);
    out.field("finished_unix_ms", finished);
    out.field("reduces", conf.getInt("mapreduce.job.reduces", 1));
    out.field("output", conf.get(FileOutputFormat.OUTDIR));
    JobConf settings = new JobConf(conf);
    out.field("map_container_bytes", (long) settings.getMemoryRequired(TaskType.MAP) << 20);
    out.field("reduce_container_bytes", (long) settings.getMemoryRequired(TaskType.REDUCE) << 20);
    writeCluster(out, conf);
    writeCounters(out, counters);
    out.beginArray("attempts");
    for (AttemptFacts attempt : attempts) {
      writeAttempt(out, attempt);
    }
    out.end();
    if (!before.isEmpty()) {
      out.beginArray("before");
      for (JobFacts job : before) {
        job.write(out, Collections.emptyList());
      }
      out.end();
    }
    out.end();
  }

  /** Writes the present resources of the nodes: a cluster does not record past ones. */
  private static void writeCluster(JsonWriter out, Configuration conf) throws IOException {
    if (RunnerProvider.FRAMEWORK.equals(conf.get(MRConfig.FRAMEWORK_NAME))) {
      out.beginObject("cluster");
      out.field("nodes", 1);
      out.field("processors", RunnerSettings.slots(conf));
      out.field("memory_bytes", Runtime.getRuntime().maxMemory());
      out.end();
      return;
    }
    List<NodeReport> nodes = new ArrayList<>();
    if (MRConfig.YARN_FRAMEWORK_NAME.equals(conf.get(MRConfig.FRAMEWORK_NAME))) {
      try (YarnClient yarn = YarnClient.createYarnClient()) {
        yarn.init(conf);
        yarn.start();
        nodes = yarn.getNodeReports(NodeState.RUNNING);
      } catch (YarnException e) {
        throw new IOException(e);
      }
    }
    out.beginObject("cluster");
    out.field("nodes", nodes.size());
    out.field("processors", nodes.stream().mapToLong(n -> n.getCapability().getVirtualCores()).sum());
    out.field("memory_bytes", nodes.stream().mapToLong(n -> n.getCapability().getMemorySize() << 20).sum());
    out.end();
  }

  private static void writeCounters(JsonWriter out, Counters counters) throws IOException {
    out.beginObject("counters");
    if (counters != null) {
      for (CounterGroup group : counters) {
        out.beginObject(group.getName());
        for (Counter counter : group) {
          out.field(counter.getName(), Math.max(0, counter.getValue()));
        }
        out.end();
      }
    }
    out.end();
  }

  private static void writeAttempt(JsonWriter out, AttemptFacts attempt) throws IOException {
    out.beginObject();
    out.field("id", attempt.id);
    out.field("kind", attempt.isMap ? "map" : "reduce");
    out.field("state", attempt.state.toLowerCase(Locale.ROOT));
    out.field("node", attempt.node);
    out.field("start_unix_ms", attempt.start);
    out.field("elapsed_ms", attempt.elapsed);
    out.field("shuffled_unix_ms", attempt.shuffled);
    out.field("merged_unix_ms", attempt.merged);
    out.beginObject("counters");
    if (attempt.counters != null) {
      for (TaskCounter name : TaskCounter.values()) {
        if (ATTEMPT_COUNTERS.contains(name)) {
          out.field(name.name(), Math.max(0, attempt.counters.findCounter(name).getValue()));
        }
      }
    }
    out.end();
    out.beginObject("times_ms");
    if (attempt.counters != null) {
      for (Counter counter : attempt.counters.getGroup(TaskTime.COUNTERS)) {
        out.field(counter.getName(), counter.getValue());
      }
    }
    out.end();
    out.end();
  }
}
