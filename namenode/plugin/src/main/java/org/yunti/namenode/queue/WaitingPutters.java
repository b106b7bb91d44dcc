package org.yunti.namenode.queue;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Who waits for a place in a full level, and how it is called.
 *
 * <p>Who has taken a call calls the first that waits. That one may have found a place by itself just then, or gives up: it passes the call on, or the next would
 * sleep beside a place.
 */
final class WaitingPutters {
  static final long NEVER = Long.MAX_VALUE;

  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();

  /** After a call was taken. */
  void call() {
    if (count.get() > 0) {
      LockSupport.unpark(waiting.poll());
    }
  }

  /** Returns when the call is in the level. False: the time is over. */
  <E> boolean put(Level<E> level, E call, long deadline) throws InterruptedException {
    if (level.offer(call)) {
      return true;
    }
    Thread thread = Thread.currentThread();
    count.getAndIncrement();
    try {
      // Who takes looks for those that wait after it has made place.
      for (waiting.add(thread); !level.offer(call); waiting.add(thread)) {
        long left = deadline - System.nanoTime();
        if (deadline == NEVER) {
          LockSupport.park(this);
        } else if (left > 0) {
          LockSupport.parkNanos(this, left);
        }
        boolean isCalled = !waiting.remove(thread);
        boolean isInterrupted = Thread.interrupted();
        if (isInterrupted || left <= 0) {
          if (isCalled) {
            LockSupport.unpark(waiting.poll());
          }
          if (isInterrupted) {
            throw new InterruptedException();
          }
          return false;
        }
      }
      if (!waiting.remove(thread)) {
        LockSupport.unpark(waiting.poll());
      }
      return true;
    } finally {
      count.getAndDecrement();
    }
  }
}
