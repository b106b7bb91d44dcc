package org.yunti.hadoop.key;

import java.io.DataOutput;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Setting that turns the sort of a job off. A reducer of such a job gets a key once for each run of equal neighbours.
 */
public final class SortSetting {
  /**
   * Job setting, default true. If {@code false}, keys reach a reducer in no order, and equal keys need not be adjacent.
   */
  public static final String SETTING = "yunti.hadoop.sort";

  private SortSetting() {}

  /**
   * Returns true if the job is sorted. A job with a combiner always is, because combining needs adjacent equal keys.
   */
  public static boolean sorts(JobConf job) {
    boolean combines = job.getCombinerClass() != null || job.get(MRJobConfig.COMBINE_CLASS_ATTR) != null;
    return combines || job.getBoolean(SETTING, true);
  }

  /** Normaliser that gives all keys the same normal form, so that they keep their order. */
  static final class Unordered<K> implements KeyNormaliser<K> {
    @Override
    public boolean serves(Class<?> keyClass, RawComparator<?> comparator) {
      return true;
    }

    @Override
    public void normalise(K key, DataOutput to) {}
  }
}
