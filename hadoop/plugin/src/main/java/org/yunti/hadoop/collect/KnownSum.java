package org.yunti.hadoop.collect;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.yunti.hadoop.key.KeyForm;

/**
 * Hadoop's own combiners that add numbers; native code adds them while it collects. {@code key/mod.rs} defines the
 * numbers.
 */
enum KnownSum {
  NONE(0),
  INT(1),
  LONG(2);

  /** Class name, because its jar is not on the class path of every job. */
  private static final String WORD_COUNT = "org.apache.hadoop.examples.WordCount$IntSumReducer";

  final int number;

  KnownSum(int number) {
    this.number = number;
  }

  /**
   * Returns the sum of the job's combiner, or NONE if it is another combiner or if only Java can find a key's
   * partition or equal keys.
   */
  static KnownSum of(JobConf job, RecordWriter<?, ?> writer) {
    KnownSum sum = ofClass(job);
    // The value of a carried key begins with the key. Keys that a comparator calls equal may differ in bytes.
    if (sum == NONE
        || writer.keyForm() == KeyForm.CARRIED
        || writer.keyCode() != null
        || job.get(MRJobConfig.COMBINER_GROUP_COMPARATOR_CLASS) != null) {
      return NONE;
    }
    boolean hashed = hasHashOfBytes(job.getMapOutputKeyClass()) && isHashed(job);
    return job.getNumReduceTasks() == 1 || hashed ? sum : NONE;
  }

  private static KnownSum ofClass(JobConf job) {
    Class<?> old = job.getCombinerClass();
    boolean isInt = job.getMapOutputValueClass() == IntWritable.class;
    boolean isLong = job.getMapOutputValueClass() == LongWritable.class;
    if (old != null) {
      return isLong && old == org.apache.hadoop.mapred.lib.LongSumReducer.class ? LONG : NONE;
    }
    String name = job.get(MRJobConfig.COMBINE_CLASS_ATTR, "");
    if (isInt && (name.equals(org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer.class.getName()) || name.equals(WORD_COUNT))) {
      return INT;
    }
    return isLong && name.equals(org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer.class.getName()) ? LONG : NONE;
  }

  /** Returns true for keys that native code hashes like Java. Hive sets the hash codes of its keys. */
  private static boolean hasHashOfBytes(Class<?> keyClass) {
    return keyClass == Text.class || keyClass == BytesWritable.class;
  }

  private static boolean isHashed(JobConf job) {
    if (job.getUseNewMapper()) {
      String name = job.get(MRJobConfig.PARTITIONER_CLASS_ATTR, HashPartitioner.class.getName());
      return name.equals(HashPartitioner.class.getName());
    }
    return job.getPartitionerClass() == org.apache.hadoop.mapred.lib.HashPartitioner.class;
  }
}
