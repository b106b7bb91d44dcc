package org.yunti.namenode.queue;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Handlers that have nothing to do, and how they are called.
 *
 * <pre>
 *   at work --nothing found--> searching --nothing again--> idle, parked
 *      ^---------found-----------'  ^----------called----------'
 * </pre>
 *
 * <p>A call that is put wakes one handler at most, and none where one is searching already: that one finds it, or calls the next when it has found another. The
 * last that was idle is the first that is called: few handlers stay hot, the others asleep.
 */
final class IdleHandlers {
  /** One that is parked. */
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

  /** After something was put. */
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

  void search() {
    searching.getAndIncrement();
  }

  /** It has found something, or gives up. Who puts did not wake anybody because of it: if there is more, it does. */
  void endSearch() {
    if (searching.decrementAndGet() == 0 && hasWork.getAsBoolean()) {
      wake();
    }
  }

  /**
   * From searching to idle.
   *
   * @return null: something was put meanwhile; it is searching still
   */
  Idle rest() {
    Idle one = new Idle();
    idle.addFirst(one);
    searching.getAndDecrement();
    // Who has put since it looked saw that somebody searches, or sees it here.
    if (hasWork.getAsBoolean() && leave(one)) {
      search();
      return null;
    }
    return one;
  }

  /** From idle back to work. False: it was called, and is searching. */
  boolean leave(Idle one) {
    if (!one.state.compareAndSet(Idle.WAITING, Idle.GONE)) {
      return false;
    }
    idle.remove(one);
    return true;
  }
}
