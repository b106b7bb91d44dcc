package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A table of what is recorded of each thread. Values of a ThreadLocal would stay in the target's threads, and keep the
 * agent's classes alive. Virtual threads leave the table when they are in no traced call.
 */
final class Threads<T extends PerThread> {
  /** Creates the record of a thread. */
  interface Maker<T> {
    T make(Thread thread, MemoryBudget budget);
  }

  /** Threads at most that are in traced calls at the same time. */
  private static final int CAPACITY = 1 << 15;
  private static final int MASK = CAPACITY - 1;
  private static final int PROBES = 64;

  /** Class of virtual threads; null before Java 21. Method handles would load classes after some calls. */
  private static final Class<?> VIRTUAL = virtual();

  private final AtomicReferenceArray<T> table = new AtomicReferenceArray<>(CAPACITY);
  private final MemoryBudget budget = new MemoryBudget();
  private final Maker<T> maker;

  Threads(Maker<T> maker) {
    this.maker = maker;
  }

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

  /** Returns the current thread's object, or null. */
  T find() {
    Thread current = Thread.currentThread();
    int place = place(current);
    for (int i = 0; i < PROBES; i++) {
      T it = table.getAcquire(place + i & MASK);
      if (it == null) {
        return null;
      }
      if (it.isOf(current)) {
        return it;
      }
    }
    return null;
  }

  /** Returns the current thread's object, created if needed; null if the table is full. */
  T findOrMake() {
    T mine = find();
    return mine != null ? mine : make();
  }

  /** Creates the current thread's object. Only the thread itself does this, so it never has two. */
  private T make() {
    Thread current = Thread.currentThread();
    int place = place(current);
    T fresh = null;
    for (int i = 0; i < PROBES; i++) {
      int at = place + i & MASK;
      T it = table.getAcquire(at);
      if (it == null) {
        fresh = fresh == null ? maker.make(current, budget) : fresh;
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

  interface Each<T> {
    void accept(T of);
  }

  void forEach(Each<T> each) {
    for (int i = 0; i < CAPACITY; i++) {
      T it = table.getAcquire(i);
      if (it != null) {
        each.accept(it);
      }
    }
  }
}
