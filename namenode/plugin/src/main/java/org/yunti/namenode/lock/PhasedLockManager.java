package org.yunti.namenode.lock;

import java.util.Locale;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock;
import org.apache.hadoop.hdfs.util.RwLockMode;
import org.apache.hadoop.metrics2.lib.MutableRatesWithAggregation;

/**
 * Stock's one lock of the name system, on a {@link PhasedLock}: {@code dfs.namenode.lock.model.provider.class}. All that stock tells of its lock (metrics,
 * reports, details of a call) is told by stock's own code.
 */
public class PhasedLockManager extends GlobalFSNamesystemLock {
  /** {@code throughput} or {@code balanced}. */
  public static final String PRESET_KEY = "yunti.namenode.lock.preset";

  private ReentrantReadWriteLock lock;

  public PhasedLockManager(Configuration conf, MutableRatesWithAggregation aggregation) {
    super(conf, aggregation);
    setLockForTests(new PhasedLock(preset(conf)));
  }

  static PhasedLock.Preset preset(Configuration conf) {
    String name = conf.getTrimmed(PRESET_KEY, "balanced");
    try {
      return PhasedLock.Preset.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(PRESET_KEY + " is '" + name + "'; it may be throughput or balanced", e);
    }
  }

  @Override
  public void setLockForTests(ReentrantReadWriteLock lock) {
    this.lock = lock;
    super.setLockForTests(lock);
  }

  @Override
  public int getQueueLength(RwLockMode lockMode) {
    return lock instanceof PhasedLock phased ? phased.waitingThreads() : super.getQueueLength(lockMode);
  }
}
