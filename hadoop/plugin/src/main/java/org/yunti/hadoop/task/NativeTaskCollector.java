package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.Verdict;
import org.yunti.hadoop.report.TaskTime;

/**
 * Collector of a native map task. It collects nothing, because {@link NativeMapper} writes the map output; it keeps the
 * context that Hadoop gives only to collectors.
 */
public final class NativeTaskCollector<K, V> implements MapOutputCollector<K, V> {
  private static final Map<String, NativeTaskCollector<?, ?>> BY_ATTEMPT = new ConcurrentHashMap<>();

  JobConf job;
  MapTask task;
  TaskReporter reporter;
  private TaskTime time;

  /** Returns the collector of a task attempt in this JVM. */
  static NativeTaskCollector<?, ?> of(TaskAttemptID attempt) throws IOException {
    NativeTaskCollector<?, ?> found = BY_ATTEMPT.get(attempt.toString());
    if (found == null) {
      throw new IOException("Yunti: a native mapper needs NativeTaskCollector as its only collector");
    }
    return found;
  }

  @Override
  public void init(Context context) throws IOException {
    job = context.getJobConf();
    task = context.getMapTask();
    reporter = context.getReporter();
    time = new TaskTime(reporter, job);
    if (CryptoUtils.isEncryptedSpillEnabled(job)) {
      throw new IOException("Yunti: native tasks do not encrypt: turn off " + MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA);
    }
    NativeLibrary.load();
    Verdict.nativeCode(reporter, "all of " + task.getTaskID());
    BY_ATTEMPT.put(task.getTaskID().toString(), this);
    time.lap(TaskTime.Stage.JVM_START);
  }

  @Override
  public void collect(K key, V value, int partition) throws IOException {
    throw new IOException("Yunti: a native map task emits no Java records");
  }

  @Override
  public void flush() {
    task.getSortPhase().complete();
  }

  @Override
  public void close() {
    BY_ATTEMPT.remove(task.getTaskID().toString());
    time.end();
  }
}
