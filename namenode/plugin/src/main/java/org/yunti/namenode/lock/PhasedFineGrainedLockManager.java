package org.yunti.namenode.lock;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.namenode.fgl.FSNLockManager;
import org.apache.hadoop.hdfs.util.RwLockMode;
import org.apache.hadoop.metrics2.lib.MutableRatesWithAggregation;

/**
 * Lock manager with separate locks for the name space (FS) and for blocks and DataNodes (BM), each a
 * {@link PhasedLock}: {@code dfs.namenode.lock.model.provider.class}.
 *
 * <p>An operation that needs both takes FS, then BM, and releases them in reverse, as in stock's
 * {@code FineGrainedFSNamesystemLock}. Heartbeats and block reports do not wait for operations on the name space.
 */
public class PhasedFineGrainedLockManager implements FSNLockManager {
  private final PhasedNamesystemLock fs;
  private final PhasedNamesystemLock bm;

  /**
   * Creates both locks, as the NameNode does by reflection. A wrong setting ends the NameNode, with a line in its log.
   */
  public PhasedFineGrainedLockManager(Configuration conf, MutableRatesWithAggregation metrics) {
    fs = new PhasedNamesystemLock(conf, "FS", metrics);
    bm = new PhasedNamesystemLock(conf, "BM", metrics);
  }

  private static boolean hasFs(RwLockMode mode) {
    return mode != RwLockMode.BM;
  }

  private static boolean hasBm(RwLockMode mode) {
    return mode != RwLockMode.FS;
  }

  // ---- readers ----

  @Override
  public void readLock(RwLockMode mode) {
    if (hasFs(mode)) {
      fs.readLock();
    }
    if (hasBm(mode)) {
      bm.readLock();
    }
  }

  @Override
  public void readLockInterruptibly(RwLockMode mode) throws InterruptedException {
    if (hasFs(mode)) {
      fs.readLockInterruptibly();
    }
    if (hasBm(mode)) {
      try {
        bm.readLockInterruptibly();
      } catch (InterruptedException e) {
        if (hasFs(mode)) {
          fs.readUnlock("BMReadLockInterruptiblyFailed");
        }
        throw e;
      }
    }
  }

  @Override
  public void readUnlock(RwLockMode mode, String operation) {
    readUnlock(mode, operation, null);
  }

  @Override
  public void readUnlock(RwLockMode mode, String operation, Supplier<String> report) {
    if (hasBm(mode)) {
      bm.readUnlock(operation, report);
    }
    if (hasFs(mode)) {
      fs.readUnlock(operation, report);
    }
  }

  @Override
  public boolean hasReadLock(RwLockMode mode) {
    return (!hasFs(mode) || isReadBy(fs)) && (!hasBm(mode) || isReadBy(bm));
  }

  private static boolean isReadBy(PhasedNamesystemLock lock) {
    return lock.getReadHoldCount() > 0 || lock.isWriteLockedByCurrentThread();
  }

  /** Returns the count of FS for both: the only caller, the summary of a directory, releases the lock at 1. */
  @Override
  public int getReadHoldCount(RwLockMode mode) {
    return hasFs(mode) ? fs.getReadHoldCount() : bm.getReadHoldCount();
  }

  // ---- writers ----

  @Override
  public void writeLock(RwLockMode mode) {
    if (hasFs(mode)) {
      fs.writeLock();
    }
    if (hasBm(mode)) {
      bm.writeLock();
    }
  }

  @Override
  public void writeLockInterruptibly(RwLockMode mode) throws InterruptedException {
    if (hasFs(mode)) {
      fs.writeLockInterruptibly();
    }
    if (hasBm(mode)) {
      try {
        bm.writeLockInterruptibly();
      } catch (InterruptedException e) {
        if (hasFs(mode)) {
          fs.writeUnlock("BMWriteLockInterruptiblyFailed");
        }
        throw e;
      }
    }
  }

  @Override
  public void writeUnlock(RwLockMode mode, String operation) {
    writeUnlock(mode, operation, false);
  }

  @Override
  public void writeUnlock(RwLockMode mode, String operation, boolean isReportSuppressed) {
    if (hasBm(mode)) {
      bm.writeUnlock(operation, isReportSuppressed);
    }
    if (hasFs(mode)) {
      fs.writeUnlock(operation, isReportSuppressed);
    }
  }

  @Override
  public void writeUnlock(RwLockMode mode, String operation, Supplier<String> report) {
    if (hasBm(mode)) {
      bm.writeUnlock(operation, report);
    }
    if (hasFs(mode)) {
      fs.writeUnlock(operation, report);
    }
  }

  @Override
  public boolean hasWriteLock(RwLockMode mode) {
    return (!hasFs(mode) || fs.isWriteLockedByCurrentThread()) && (!hasBm(mode) || bm.isWriteLockedByCurrentThread());
  }

  // ---- state; unknown for both together ----

  private static final int UNKNOWN = -1;

  @Override
  public int getQueueLength(RwLockMode mode) {
    return mode == RwLockMode.GLOBAL ? UNKNOWN : one(mode).getQueueLength();
  }

  @Override
  public long getNumOfReadLockLongHold(RwLockMode mode) {
    return mode == RwLockMode.GLOBAL ? UNKNOWN : one(mode).getNumOfReadLockLongHold();
  }

  @Override
  public long getNumOfWriteLockLongHold(RwLockMode mode) {
    return mode == RwLockMode.GLOBAL ? UNKNOWN : one(mode).getNumOfWriteLockLongHold();
  }

  private PhasedNamesystemLock one(RwLockMode mode) {
    return mode == RwLockMode.FS ? fs : bm;
  }

  @Override
  public boolean isMetricsEnabled() {
    return fs.isMetricsEnabled();
  }

  @Override
  public void setMetricsEnabled(boolean isEnabled) {
    fs.setMetricsEnabled(isEnabled);
    bm.setMetricsEnabled(isEnabled);
  }

  @Override
  public void setReadLockReportingThresholdMs(long threshold) {
    fs.setReadLockReportingThresholdMs(threshold);
    bm.setReadLockReportingThresholdMs(threshold);
  }

  @Override
  public long getReadLockReportingThresholdMs() {
    return fs.getReadLockReportingThresholdMs();
  }

  @Override
  public void setWriteLockReportingThresholdMs(long threshold) {
    fs.setWriteLockReportingThresholdMs(threshold);
    bm.setWriteLockReportingThresholdMs(threshold);
  }

  @Override
  public long getWriteLockReportingThresholdMs() {
    return fs.getWriteLockReportingThresholdMs();
  }

  @Override
  public void setLockForTests(ReentrantReadWriteLock lock) {
    throw new UnsupportedOperationException("there are two locks");
  }

  @Override
  public ReentrantReadWriteLock getLockForTests() {
    throw new UnsupportedOperationException("there are two locks");
  }
}
