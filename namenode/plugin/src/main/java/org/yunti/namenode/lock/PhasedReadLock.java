package org.yunti.namenode.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Read lock of a {@link PhasedLock}, with the type that stock requires. */
final class PhasedReadLock extends ReentrantReadWriteLock.ReadLock {
  private static final long serialVersionUID = 1L;
  private final transient Phases phases;

  PhasedReadLock(PhasedLock lock, Phases phases) {
    super(lock);
    this.phases = phases;
  }

  @Override
  public void lock() {
    phases.lockRead();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    phases.lockReadUntil(Phases.NEVER);
  }

  @Override
  public boolean tryLock() {
    return phases.tryLockRead();
  }

  @Override
  public boolean tryLock(long timeout, TimeUnit unit) throws InterruptedException {
    return phases.lockReadUntil(Phases.after(timeout, unit));
  }

  @Override
  public void unlock() {
    phases.unlockRead();
  }

  @Override
  public String toString() {
    return phases + ".readLock";
  }
}
