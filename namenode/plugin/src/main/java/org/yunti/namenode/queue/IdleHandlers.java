package org.yunti.namenode.queue;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Idle handlers, and their wake-ups.
 *
 * <pre>
 *   at work --nothing found--> searching --nothing again--> idle, parked
 *      ^---------found-----------'  ^----------called----------'
 * </pre>
 *
 * <p>A put wakes one handler at most, and none while a handler searches: that one finds the call, or wakes the next
 * when it has found another. The handler that became idle last is woken first, so that few handlers stay hot.
 */
final class IdleHandlers {
  /** A parked handler. */
  static final class Idle {
    private static final int WAITING = 0;
    private static final int CALLED = 1;
    private static final int GONE = 2;

    private final Thread thread = Thread.currentThread();
    private final AtomicInteger state = new AtomicInteger(WAITING);

    boolean isWaiting() {
      return state.get() == WAITING;
    }
  }

  private final ConcurrentLinkedDeque<Idle> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger searching = new AtomicInteger();
  private final BooleanSupplier hasWork;

  IdleHandlers(BooleanSupplier hasWork) {
    this.hasWork = hasWork;
  }

  /** Wakes a handler after a put, unless one searches. */
  void call() {
    if (searching.get() == 0) {
      wake();
    }
  }

  private void wake() {
    for (Idle one = idle.pollFirst(); one != null; one = idle.pollFirst()) {
      if (one.state.compareAndSet(Idle.WAITING, Idle.CALLED)) {
        searching.getAndIncrement();
        LockSupport.unpark(one.thread);
        return;
      }
    }
  }

  /** Starts a search. */
  void search() {
    searching.getAndIncrement();
  }

  /**
   * Ends a search, with a call or without. Puts during the search woke no handler, so the last one to search wakes the
   * next if there are more calls.
   */
  void endSearch() {
    if (searching.decrementAndGet() == 0 && hasWork.getAsBoolean()) {
      wake();
    }
  }

  /**
   * Changes from searching to idle.
   *
   * @return null if there is a call: the handler still searches
   */
  Idle rest() {
    Idle one = new Idle();
    idle.addFirst(one);
    searching.getAndDecrement();
    // A put since the last poll saw this handler as searching, or finds it in the list.
    if (hasWork.getAsBoolean() && leave(one)) {
      search();
      return null;
    }
    return one;
  }

  /** Changes from idle to work. Returns false if the handler was called and now searches. */
  boolean leave(Idle one) {
    if (!one.state.compareAndSet(Idle.WAITING, Idle.GONE)) {
      return false;
    }
    idle.remove(one);
    return true;
  }
}
