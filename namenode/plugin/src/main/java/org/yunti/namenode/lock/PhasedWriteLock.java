package org.yunti.namenode.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The writers' side of a {@link PhasedLock}, by the type that stock asks for. */
final class PhasedWriteLock extends ReentrantReadWriteLock.WriteLock {
  private static final long serialVersionUID = 1L;
  private final transient PhasedLock lock;

  PhasedWriteLock(PhasedLock lock) {
    super(lock);
    this.lock = lock;
  }

  @Override
  public void lock() {
    lock.lockWrite();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.lockWriteUntil(PhasedLock.NEVER);
  }

  @Override
  public boolean tryLock() {
    return lock.tryLockWrite();
  }

  @Override
  public boolean tryLock(long timeout, TimeUnit unit) throws InterruptedException {
    return lock.lockWriteUntil(PhasedLock.after(timeout, unit));
  }

  @Override
  public void unlock() {
    lock.unlockWrite();
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a PhasedLock has no conditions");
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return lock.isWriteLockedByCurrentThread();
  }

  @Override
  public int getHoldCount() {
    return lock.getWriteHoldCount();
  }

  @Override
  public String toString() {
    return lock + ".writeLock";
  }
}
