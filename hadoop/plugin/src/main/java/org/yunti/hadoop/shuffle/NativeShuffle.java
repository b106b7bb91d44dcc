package org.yunti.hadoop.shuffle;

import java.io.IOException;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.yunti.hadoop.Verdict;

/**
 * Shuffle and merge in native code. Set {@code mapreduce.job.reduce.shuffle.consumer.plugin.class} to this class and
 * ship the jar.
 *
 * <p>Hadoop's own fetchers copy the map outputs (its protocol, hashes, retries, reports and TLS), unless all are files
 * of this machine. Native code stores and merges them, and the reducer reads batches of records. If native code
 * declines, Hadoop's own merge runs; the counter {@code declined: REASON} of group {@code Yunti} has the reason.
 *
 * <p>{@code yunti.hadoop.reduce.memory.mb} sets the memory for map outputs, outside the Java heap. A failure of native
 * code is a {@link org.yunti.hadoop.NativeFailure}; the next attempt then runs Hadoop's own code.
 */
public final class NativeShuffle<K, V> extends Shuffle<K, V> {
  private NativeMergeManager<K, V> manager;
  /** Null if fetchers copy the map outputs. */
  private LocalMapOutputs<K, V> local;
  private boolean hasDeclined;
  private Context<K, V> task;

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public void init(Context context) {
    task = (Context<K, V>) context;
    if (context.getLocalMapFiles() != null && hasManager(task)) {
      local = new LocalMapOutputs<>(task, manager);
    } else {
      super.init(context);
    }
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  protected MergeManager<K, V> createMergeManager(Context context) {
    return !hasDeclined && hasManager((Context<K, V>) context) ? manager : super.createMergeManager(context);
  }

  /** Makes the manager of native code. Returns false if it declines. */
  private boolean hasManager(Context<K, V> context) {
    String what = "the input of " + context.getReduceId();
    try {
      manager = new NativeMergeManager<>(context, this);
      Verdict.nativeCode(context.getReporter(), what);
      return true;
    } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
      hasDeclined = true;
      Verdict.declined(context.getReporter(), what, e);
      return false;
    }
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    boolean done = false;
    try {
      RawKeyValueIterator records = local != null ? local.merge() : super.run();
      CountedOutput.install(task.getReduceTask(), task.getJobConf(), task.getReporter());
      done = true;
      return records;
    } finally {
      if (!done && manager != null) {
        manager.release();
      }
    }
  }

  @Override
  public void close() {
    if (local == null) {
      super.close();
    }
    if (manager != null) {
      manager.end();
    }
  }
}
