package org.yunti.namenode.lock;

import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Re-entrant read-write lock in which phases of readers and of writers alternate: {@link Phases}. Its readers write no
 * shared cache line.
 *
 * <p>It is a {@link ReentrantReadWriteLock} by type only, so that stock's {@code FSNamesystemLock} works on it
 * unchanged, with stock's metrics and reports. The inherited lock is never taken. As in the inherited type:
 *
 * <ul>
 *   <li>A thread with the write lock may take the read lock and then release the write lock.
 *   <li>A thread with only the read lock must not take the write lock: it would wait forever.
 *   <li>All mutable state is in another object, so that a copy (such as a Mockito spy) is the same lock.
 * </ul>
 */
public final class PhasedLock extends ReentrantReadWriteLock {
  private static final long serialVersionUID = 1L;

  private final transient Phases phases;
  private final transient ReadLock reading;
  private final transient WriteLock writing;

  /** Creates a lock with a preset. */
  public PhasedLock(Tuning.Preset preset) {
    this(preset.tuning());
  }

  /** Creates a lock with a tuning. */
  public PhasedLock(Tuning tuning) {
    phases = new Phases(tuning);
    reading = new PhasedReadLock(this, phases);
    writing = new PhasedWriteLock(this, phases);
  }

  @Override
  public ReadLock readLock() {
    return reading;
  }

  @Override
  public WriteLock writeLock() {
    return writing;
  }

  @Override
  public int getReadLockCount() {
    return phases.readers();
  }

  @Override
  public boolean isWriteLocked() {
    return phases.writer() != null;
  }

  @Override
  public boolean isWriteLockedByCurrentThread() {
    return phases.isWriter();
  }

  @Override
  public int getWriteHoldCount() {
    return phases.writeHolds();
  }

  @Override
  public int getReadHoldCount() {
    return phases.readHolds();
  }

  /** Returns the threads that wait. {@link #getQueueLength()} is final, and counts for the inherited lock. */
  public int waitingThreads() {
    return phases.waitingThreads();
  }

  @Override
  public String toString() {
    return phases.toString();
  }
}
