package org.yunti.namenode.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The readers' side of a {@link PhasedLock}, by the type that stock asks for. */
final class PhasedReadLock extends ReentrantReadWriteLock.ReadLock {
  private static final long serialVersionUID = 1L;
  private final transient PhasedLock lock;

  PhasedReadLock(PhasedLock lock) {
    super(lock);
    this.lock = lock;
  }

  @Override
  public void lock() {
    lock.lockRead();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.lockReadUntil(PhasedLock.NEVER);
  }

  @Override
  public boolean tryLock() {
    return lock.tryLockRead();
  }

  @Override
  public boolean tryLock(long timeout, TimeUnit unit) throws InterruptedException {
    return lock.lockReadUntil(PhasedLock.after(timeout, unit));
  }

  @Override
  public void unlock() {
    lock.unlockRead();
  }

  @Override
  public String toString() {
    return lock + ".readLock";
  }
}
