package org.yunti.hadoop.shuffle;

import java.io.IOException;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.yunti.hadoop.Verdict;

/**
 * Shuffle and merge through native code. Set {@code mapreduce.job.reduce.shuffle.consumer.plugin.class} to this class.
 *
 * <p>Map outputs are fetched by Hadoop's own fetchers (its protocol, its hashes, retries, reports and TLS); what they bring is kept
 * and merged by native code, and the reducer reads it in batches. Where native code declines, Hadoop's own merge takes its place.
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
