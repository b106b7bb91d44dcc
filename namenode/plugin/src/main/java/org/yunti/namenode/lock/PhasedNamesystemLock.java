package org.yunti.namenode.lock;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystemLock;
import org.apache.hadoop.metrics2.lib.MutableRatesWithAggregation;

/** Lock of the name system with stock's metrics and reports, on a {@link PhasedLock}. */
final class PhasedNamesystemLock extends FSNamesystemLock {
  private final PhasedLock lock;

  /**
   * Creates the lock.
   *
   * @param name first word of its metrics' names
   */
  PhasedNamesystemLock(Configuration conf, String name, MutableRatesWithAggregation metrics) {
    super(conf, name, metrics);
    lock = new PhasedLock(PhasedLockManager.tuningAtStart(conf));
    coarseLock = lock;
  }

  @Override
  public int getQueueLength() {
    return lock.waitingThreads();
  }
}
