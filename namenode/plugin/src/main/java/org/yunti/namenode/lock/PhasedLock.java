package org.yunti.namenode.lock;

import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A re-entrant read-write lock whose readers share no written line, and in which phases of readers and of writers take turns: {@link Phases}.
 *
 * <p>It is a {@link ReentrantReadWriteLock} by type alone, so that {@code FSNamesystemLock} of stock works on it as it is: its metrics, reports and details are
 * stock's own. The lock that it inherits is never taken. As there, a thread that has the write lock may take the read lock and then give the former back, and
 * one that has only the read lock must not ask for the write lock. And as there, all that changes lies in an object of its own: a copy of this one (Mockito's
 * spies are such) is the same lock.
 */
public final class PhasedLock extends ReentrantReadWriteLock {
  private static final long serialVersionUID = 1L;

  private final transient Phases phases;
  private final transient ReadLock reading;
  private final transient WriteLock writing;

  public PhasedLock(Tuning.Preset preset) {
    this(preset.tuning());
  }

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

  /** Threads that wait. {@link #getQueueLength()} is final, and of the lock that is never taken. */
  public int waitingThreads() {
    return phases.waitingThreads();
  }

  @Override
  public String toString() {
    return phases.toString();
  }
}
