package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The calls of each thread, found by the thread: a table of our own, since values of a ThreadLocal would stay in the threads of the target, with our
 * classes. It has room for so many threads at once that are within traced calls; virtual threads leave it when they are not.
 */
final class Threads {
  private static final int ROOM = 1 << 15;
  private static final int MASK = ROOM - 1;
  private static final int PROBES = 64;

  /** Null before Java 21. Method handles would say it too, but load classes when they have been called some times. */
  private static final Class<?> VIRTUAL = virtual();

  private final AtomicReferenceArray<ThreadCalls> table = new AtomicReferenceArray<>(ROOM);
  private final Room room = new Room();

  private static Class<?> virtual() {
    try {
      return Class.forName("java.lang.BaseVirtualThread", false, null);
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  static boolean isVirtual(Thread thread) {
    return VIRTUAL != null && VIRTUAL.isInstance(thread);
  }

  private static int place(Thread thread) {
    int hash = (int) thread.getId() * 0x9e3779b9;
    return hash ^ hash >>> 15;
  }

  /** Those of the thread that asks; null: it has none. */
  ThreadCalls find() {
    Thread current = Thread.currentThread();
    int place = place(current);
    for (int i = 0; i < PROBES; i++) {
      ThreadCalls it = table.getAcquire(place + i & MASK);
      if (it == null) {
        return null;
      }
      if (it.isOf(current)) {
        return it;
      }
    }
    return null;
  }

  /** Those of the thread that asks, made where it has none; null: there is no room. */
  ThreadCalls findOrMake() {
    ThreadCalls mine = find();
    return mine != null ? mine : make();
  }

  /** Only the thread itself makes its own, so that it cannot have two. */
  private ThreadCalls make() {
    Thread current = Thread.currentThread();
    int place = place(current);
    ThreadCalls fresh = null;
    for (int i = 0; i < PROBES; i++) {
      int at = place + i & MASK;
      ThreadCalls it = table.getAcquire(at);
      if (it == null) {
        fresh = fresh == null ? new ThreadCalls(current, room) : fresh;
        if (table.compareAndSet(at, null, fresh)) {
          return fresh;
        }
        it = table.getAcquire(at);
      }
      if (it.claim(current)) {
        return it;
      }
    }
    return null;
  }

  interface Each {
    void accept(ThreadCalls calls);
  }

  void forEach(Each each) {
    for (int i = 0; i < ROOM; i++) {
      ThreadCalls it = table.getAcquire(i);
      if (it != null) {
        each.accept(it);
      }
    }
  }
}
