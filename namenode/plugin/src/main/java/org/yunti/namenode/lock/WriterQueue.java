package org.yunti.namenode.lock;

import java.util.ArrayDeque;

/**
 * Queue of the writers that wait, and the state of the phase of writers.
 *
 * <p>Callers hold the monitor of this object, for a few instructions, in all methods but {@link #writersLeft} and
 * {@link #isFree}.
 */
final class WriterQueue {
  /** A writer that waits, leads or has the lock. */
  static final class Writer {
    static final int NOT_YET = 0;
    static final int HAS_IT = 1;
    static final int LEADS = 2;

    final Thread thread = Thread.currentThread();
    /** Set once the writer has the lock, or must lead the next phase of writers. */
    volatile int turn;
    /** True if the writer was unparked to take the lock and has not checked its turn yet. */
    private boolean isCalled;
  }

  private final Tuning tuning;
  private final ArrayDeque<Writer> waitingWriters = new ArrayDeque<>();
  /** True while a writer has the lock, or leads towards it. */
  private boolean isWritersPhase;
  /** Writers that may follow in this phase. Written under the monitor. */
  private volatile int writersLeft;
  /**
   * True if, in a phase of writers, no writer has the lock and the first that waits was called. The first to arrive
   * takes the lock. Written under the monitor.
   */
  private volatile boolean isFree;
  /** Writers that overtook since a waiting writer last had the lock. */
  private int overtakes;

  WriterQueue(Tuning tuning) {
    this.tuning = tuning;
  }

  /** Returns the writers that may follow in this phase; needs no monitor. */
  int writersLeft() {
    return writersLeft;
  }

  /** Returns true if a writer that arrives would take the lock; needs no monitor. */
  boolean isFree() {
    return isFree;
  }

  // ---- protocol ----

  /** Starts a phase of writers. Returns false if there is one. */
  boolean beginPhase() {
    if (isWritersPhase) {
      return false;
    }
    isWritersPhase = true;
    return true;
  }

  void add(Writer writer) {
    waitingWriters.addLast(writer);
  }

  /** Takes the lock for a writer that has just arrived, if the lock is free. */
  boolean overtake() {
    if (!isFree) {
      return false;
    }
    isFree = false;
    writersLeft--;
    overtakes++;
    return true;
  }

  /** Takes the lock for a writer that was called, if it is the first and the lock is still free. */
  void takeTurn(Writer writer) {
    writer.isCalled = false;
    if (isFree && waitingWriters.peekFirst() == writer) {
      isFree = false;
      hand();
    }
  }

  /** Returns true if the phase has another writer. */
  boolean hasNext() {
    return writersLeft > 0 && !waitingWriters.isEmpty();
  }

  /** Gives the lock back within the phase. Returns the thread to unpark, or null. */
  Thread passOn() {
    return overtakes < tuning.overtakesMax() ? call() : hand();
  }

  /** Hands the lock to the first that waits. Returns its thread. */
  private Thread hand() {
    Writer next = waitingWriters.removeFirst();
    writersLeft--;
    overtakes = 0;
    next.turn = Writer.HAS_IT;
    return next.thread;
  }

  /** Frees the lock and calls the first that waits. Returns its thread, or null if it was called before. */
  Thread call() {
    isFree = true;
    Writer first = waitingWriters.getFirst();
    if (first.isCalled) {
      return null;
    }
    first.isCalled = true;
    return first.thread;
  }

  /** Removes a writer that gives up. Returns true if it leaves a free lock to no other writer: the phase must end. */
  boolean remove(Writer writer) {
    waitingWriters.remove(writer);
    boolean isLast = isFree && waitingWriters.isEmpty();
    if (isLast) {
      isFree = false;
    }
    return isLast;
  }

  /** Sets the writers that may follow in this phase: the ones that wait now, up to the tuning's maximum. */
  void limitPhase() {
    writersLeft = Math.min(waitingWriters.size(), tuning.writersMax() - 1);
  }

  /**
   * Ends the phase and removes the leader of the next one from the queue.
   *
   * @param isGateKept without a leader, the phase ends only when the gate is open
   * @return null if no writer waits
   */
  Writer pollLeader(boolean isGateKept) {
    writersLeft = 0;
    overtakes = 0;
    Writer next = waitingWriters.pollFirst();
    if (next == null) {
      isWritersPhase = isGateKept;
    }
    return next;
  }

  // ---- state ----

  int size() {
    return waitingWriters.size();
  }
}
