package org.yunti.namenode.lock;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** List of the readers that wait at the closed gate. The end of a phase of writers takes it whole. */
final class WaitingReaders {
  /** A reader in the list. */
  static final class Reader {
    static final int WAITING = 0;
    static final int LET_IN = 1;
    static final int GONE = 2;

    final Thread thread = Thread.currentThread();
    final int slot;
    final AtomicInteger state = new AtomicInteger(WAITING);
    private Reader next;

    Reader(int slot) {
      this.slot = slot;
    }
  }

  private final AtomicReference<Reader> head = new AtomicReference<>();
  private final AtomicInteger count = new AtomicInteger();

  // ---- protocol ----

  /** Adds a reader. */
  void add(Reader reader) {
    count.getAndIncrement();
    do {
      reader.next = head.get();
    } while (!head.compareAndSet(reader.next, reader));
  }

  /** Ends the wait of a reader. Returns false if it was let in before: it has the lock. */
  boolean endWait(Reader reader) {
    count.getAndDecrement();
    return reader.state.compareAndSet(Reader.WAITING, Reader.GONE);
  }

  /** Takes the list and counts its readers as inside. Returns its first reader. */
  Reader grant(ReaderSlots slots) {
    Reader first = head.getAndSet(null);
    for (Reader reader = first; reader != null; reader = reader.next) {
      slots.enter(reader.slot);
      if (!reader.state.compareAndSet(Reader.WAITING, Reader.LET_IN)) {
        slots.leave(reader.slot);
      }
    }
    return first;
  }

  /** Unparks the readers of a list that {@link #grant} returned. */
  static void wake(Reader first) {
    for (Reader reader = first; reader != null; reader = reader.next) {
      LockSupport.unpark(reader.thread);
    }
  }

  // ---- state ----

  /** Returns the number of readers that wait, for reports. */
  int size() {
    return count.get();
  }
}
