package org.yunti.namenode.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Write lock of a {@link PhasedLock}, with the type that stock requires. */
final class PhasedWriteLock extends ReentrantReadWriteLock.WriteLock {
  private static final long serialVersionUID = 1L;
  private final transient Phases phases;

  PhasedWriteLock(PhasedLock lock, Phases phases) {
    super(lock);
    this.phases = phases;
  }

  @Override
  public void lock() {
    phases.lockWrite();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    phases.lockWriteUntil(Phases.NEVER);
  }

  @Override
  public boolean tryLock() {
    return phases.tryLockWrite();
  }

  @Override
  public boolean tryLock(long timeout, TimeUnit unit) throws InterruptedException {
    return phases.lockWriteUntil(Phases.after(timeout, unit));
  }

  @Override
  public void unlock() {
    phases.unlockWrite();
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a PhasedLock has no conditions");
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return phases.isWriter();
  }

  @Override
  public int getHoldCount() {
    return phases.writeHolds();
  }

  @Override
  public String toString() {
    return phases + ".writeLock";
  }
}
