package org.yunti.namenode.queue;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait for a place in a full level, and their wake-ups.
 *
 * <p>A thread that has taken a call wakes the first one that waits. If that one has found a place by itself or gives
 * up, it wakes the next. Otherwise the next would sleep although there is a place.
 */
final class WaitingPutters {
  static final long NEVER = Long.MAX_VALUE;

  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();

  /** Wakes a waiting thread after a call was taken. */
  void call() {
    if (count.get() > 0) {
      LockSupport.unpark(waiting.poll());
    }
  }

  /** Puts a call into a level and waits for a place. Returns false once the deadline is over. */
  <E> boolean put(Level<E> level, E call, long deadline) throws InterruptedException {
    if (level.offer(call)) {
      return true;
    }
    Thread thread = Thread.currentThread();
    count.getAndIncrement();
    try {
      // A taker frees the place first, and then checks for waiting threads.
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
