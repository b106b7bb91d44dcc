package org.yunti.hadoop.runner;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.JobID;
import org.yunti.hadoop.runner.files.ThisProcess;
import org.yunti.hadoop.runner.job.JobRun;

/** Jobs of this JVM that run, and the last ones that ended. */
final class Jobs {
  /** Ended jobs that clients can still ask after without reading records, and their tasks. */
  private static final int ENDED_MAX = 100;
  private static final int TASKS_MAX = 10_000;

  /** Jobs by the text of their identifiers: the old API's identifiers equal none of the new one. */
  private static final Map<String, JobRun> ALL = new LinkedHashMap<>();
  /** Programs that start in the same millisecond have different numbers. */
  private static final int PROCESSES = 100_000;
  /** Digits alone, because programs read it as the start time of a cluster. */
  private static final String CLUSTER = ManagementFactory.getRuntimeMXBean().getStartTime()
      + String.format("%05d", Long.parseLong(ThisProcess.id()) % PROCESSES);

  private static int last;

  private Jobs() {}

  static synchronized JobID newId() {
    return new JobID(CLUSTER, ++last);
  }

  static synchronized void add(JobID id, JobRun run) {
    ALL.put(id.toString(), run);
    List<String> ended = new ArrayList<>();
    int tasks = 0;
    for (Map.Entry<String, JobRun> job : ALL.entrySet()) {
      if (job.getValue().isEnded()) {
        ended.add(job.getKey());
        tasks += job.getValue().tasks();
      }
    }
    // The last one stays in any case: its client may still ask for its counters.
    for (int i = 0; i + 1 < ended.size() && (i + ENDED_MAX < ended.size() || tasks > TASKS_MAX); i++) {
      tasks -= ALL.remove(ended.get(i)).tasks();
    }
  }

  static synchronized JobRun get(JobID id) {
    return ALL.get(id.toString());
  }

  static synchronized void forget() {
    ALL.clear();
    last = 0;
  }

  static synchronized List<JobRun> all() {
    return new ArrayList<>(ALL.values());
  }
}
