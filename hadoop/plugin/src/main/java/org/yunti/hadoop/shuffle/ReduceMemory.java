package org.yunti.hadoop.shuffle;

import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * Memory of a reduce task for map outputs, in bytes outside the Java heap. Hadoop's own shuffle keeps them in the heap,
 * which is sized for that. Here they must fit into the container beside the heap.
 */
final class ReduceMemory {
  /** Job setting: megabytes. Unset or 0: the container less the heap and the JVM's own needs. */
  static final String SETTING = "yunti.hadoop.reduce.memory.mb";

  /** Bytes of code cache, metaspace, thread stacks and collector of a reducer's JVM. */
  private static final long JVM_BYTES = 104L << 20;

  /** Hadoop's default, which it does not publish. */
  private static final float SINGLE_SHARE = 0.25f;

  private static final long LEAST_BYTES = 32L << 20;

  private final long limitBytes;
  private final long singleBytes;
  private final long mergeBytes;

  private ReduceMemory(long limitBytes, long singleBytes, long mergeBytes) {
    this.limitBytes = limitBytes;
    this.singleBytes = singleBytes;
    this.mergeBytes = mergeBytes;
  }

  long limitBytes() {
    return limitBytes;
  }

  long singleBytes() {
    return singleBytes;
  }

  long mergeBytes() {
    return mergeBytes;
  }

  static ReduceMemory of(JobConf job) {
    long heap = Runtime.getRuntime().maxMemory();
    float share =
        job.getFloat(MRJobConfig.SHUFFLE_INPUT_BUFFER_PERCENT, MRJobConfig.DEFAULT_SHUFFLE_INPUT_BUFFER_PERCENT);
    long limit = (long) (job.getLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, heap) * share);
    long set = job.getLong(SETTING, 0) << 20;
    if (set > 0) {
      limit = set;
    } else if (MRConfig.YARN_FRAMEWORK_NAME.equals(job.get(MRConfig.FRAMEWORK_NAME))) {
      long container = (long) job.getMemoryRequired(TaskType.REDUCE) << 20;
      limit = Math.min(limit, Math.max(LEAST_BYTES, container - heap - JVM_BYTES));
    }
    float single = job.getFloat(MRJobConfig.SHUFFLE_MEMORY_LIMIT_PERCENT, SINGLE_SHARE);
    float merge = job.getFloat(MRJobConfig.SHUFFLE_MERGE_PERCENT, MRJobConfig.DEFAULT_SHUFFLE_MERGE_PERCENT);
    return new ReduceMemory(limit, Math.min((long) (limit * single), Integer.MAX_VALUE - 64), (long) (limit * merge));
  }
}
