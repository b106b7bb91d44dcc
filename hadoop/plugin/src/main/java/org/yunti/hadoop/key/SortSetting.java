package org.yunti.hadoop.key;

import java.io.DataOutput;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;

/** Whether a job wants its records sorted. One that does not sees each key as often as there are stretches of it. */
public final class SortSetting {
  /** {@code false}: keys come to a reducer in no order, and equal ones not together. */
  public static final String SETTING = "yunti.hadoop.sort";

  private SortSetting() {}

  /** A combiner is of no use where equal keys do not meet: a job that has one is sorted. */
  public static boolean sorts(JobConf job) {
    boolean combines = job.getCombinerClass() != null || job.get(MRJobConfig.COMBINE_CLASS_ATTR) != null;
    return combines || job.getBoolean(SETTING, true);
  }

  /** All keys have the same normal form: they stay as they come. */
  static final class Unordered<K> implements KeyNormaliser<K> {
    @Override
    public boolean serves(Class<?> keyClass, RawComparator<?> comparator) {
      return true;
    }

    @Override
    public void normalise(K key, DataOutput to) {}
  }
}
