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
 * <p>Hadoop's own fetchers copy the map outputs (its protocol, hashes, retries, reports and TLS). Native code stores
 * and merges them, and the reducer reads batches of records. If native code declines, Hadoop's own merge runs; the
 * counter {@code declined: REASON} of group {@code Yunti} has the reason.
 *
 * <p>{@code yunti.hadoop.reduce.memory.mb} sets the memory for map outputs, outside the Java heap. A failure of native
 * code is a {@link org.yunti.hadoop.NativeFailure}; the next attempt then runs Hadoop's own code.
 */
public final class NativeShuffle<K, V> extends Shuffle<K, V> {
  private NativeMergeManager<K, V> manager;

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  protected MergeManager<K, V> createMergeManager(Context context) {
    String what = "the input of " + context.getReduceId();
    try {
      manager = new NativeMergeManager<>((Context<K, V>) context, this);
      Verdict.nativeCode(context.getReporter(), what);
      return manager;
    } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
      Verdict.declined(context.getReporter(), what, e);
      return super.createMergeManager(context);
    }
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    boolean done = false;
    try {
      RawKeyValueIterator records = super.run();
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
    super.close();
    if (manager != null) {
      manager.end();
    }
  }
}
