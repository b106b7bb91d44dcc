package org.yunti.namenode.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.yunti.namenode.lock.WaitingReaders.Reader;
import org.yunti.namenode.lock.WriterQueue.Writer;

/**
 * Algorithm of {@link PhasedLock}: a re-entrant read-write lock in which phases of readers and of writers alternate.
 *
 * <pre>
 *   phase of readers                      | phase of writers            | phase of readers ..
 *   a reader counts in its own slot       | the gate is closed          | all waiting readers enter at once
 *   the first writer closes the gate      | the waiting writers run,    |
 *   and waits until no reader is left     | one after the other         |
 * </pre>
 *
 * <p>{@link ReaderSlots} counts the readers inside, {@link WaitingReaders} lists the readers at the closed gate, and
 * {@link WriterQueue} orders the writers.
 *
 * <p>No thread starves:
 *
 * <ul>
 *   <li>A listed reader waits for the writers of one phase, {@code writersMax} at most. Before, it may yield in at most
 *       {@code YIELDS} phases that have fewer than {@code YIELDS_FOR_WRITERS} writers left.
 *   <li>A writer waits for the readers inside and for the writers before it. For each of these,
 *       {@code overtakesMax} later writers may overtake, if they run when the lock becomes free: a processor with work
 *       does not wait until a thread is woken. Before it queues, a writer yields at most {@code YIELDS} times.
 * </ul>
 *
 * <p>With a phase-fair tuning (the term of Brandenburg and Anderson, below) the gate stays closed between two phases of
 * writers: a writer waits for the readers of one list, and for no later reader. Otherwise readers enter until the next
 * leader is woken, which favours readers.
 *
 * <p>Rejected alternatives:
 *
 * <ul>
 *   <li>{@code StampedLock}: not re-entrant.
 *   <li>Phases of one writer (Brandenburg and Anderson, <i>Reader-Writer Synchronization for Shared-Memory
 *       Multiprocessor Real-Time Systems</i>, 2009): all readers enter after each writer, with a hundred wake-ups each
 *       time.
 *   <li>A short wait for more writers before the gate closes: lower throughput in each measured mix.
 * </ul>
 */
final class Phases {
  static final long NEVER = Long.MAX_VALUE;
  /** Yields before a thread queues: with few writers ahead, they are done before a parked thread would be woken. */
  private static final int YIELDS = 10;
  /** Writers left in the phase from which a thread queues at once; yields would only take their processor. */
  private static final int YIELDS_FOR_WRITERS = 4;

  /** Read holds of a thread. */
  private static final class Hold {
    final int slot;
    int count;

    Hold(int slot) {
      this.slot = slot;
    }
  }

  private final Tuning tuning;
  private final ReaderSlots slots = new ReaderSlots();
  private final ThreadLocal<Hold> holds = ThreadLocal.withInitial(() -> new Hold(slots.assign()));

  /** True while arriving readers must wait. */
  private volatile boolean isClosed;
  private final WaitingReaders waitingReaders = new WaitingReaders();

  /** Leading writer that waits until no reader is left. */
  private volatile Thread draining;
  private volatile Thread owner;
  /** Write holds; accessed by the owner only. */
  private int writeHolds;
  private final WriterQueue writers;

  Phases(Tuning tuning) {
    this.tuning = tuning;
    writers = new WriterQueue(tuning);
  }

  // ---- protocol: readers ----

  void lockRead() {
    Hold hold = holds.get();
    if (!enterRead(hold)) {
      boolean isInterrupted = false;
      while (!waitRead(hold, NEVER)) {
        isInterrupted |= Thread.interrupted();
      }
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
    hold.count++;
  }

  /** Returns false once the deadline, in {@link System#nanoTime}, is over. */
  boolean lockReadUntil(long deadline) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Hold hold = holds.get();
    if (!enterRead(hold)) {
      while (!waitRead(hold, deadline)) {
        if (Thread.currentThread().isInterrupted() || deadline != NEVER && System.nanoTime() - deadline >= 0) {
          return giveUp();
        }
      }
    }
    hold.count++;
    return true;
  }

  boolean tryLockRead() {
    Hold hold = holds.get();
    if (!enterRead(hold)) {
      return false;
    }
    hold.count++;
    return true;
  }

  /** Counts this thread as a reader, unless it must wait. */
  private boolean enterRead(Hold hold) {
    if (hold.count > 0) {
      return true;
    }
    // The count comes before the check of the gate; the leader closes the gate before it checks the slots. So at least
    // one of the two sees the other.
    slots.enter(hold.slot);
    if (!isClosed || owner == Thread.currentThread()) {
      return true;
    }
    leaveRead(hold.slot);
    return false;
  }

  /** Uncounts a reader, and wakes the leader if it was the last. */
  private void leaveRead(int slot) {
    slots.leave(slot);
    if (isClosed) {
      Thread waiting = draining;
      if (waiting != null && slots.isEmpty()) {
        LockSupport.unpark(waiting);
      }
    }
  }

  /**
   * Waits at the closed gate. Returns true with the read lock. Returns false to check again: after an interrupt, after
   * the deadline, or if the gate opened and closed during the wait.
   */
  private boolean waitRead(Hold hold, long deadline) {
    // Not listed yet: a few later writers may go first.
    for (int n = 0; n < YIELDS && writers.writersLeft() < YIELDS_FOR_WRITERS; n++) {
      Thread.yield();
      if (!isClosed && enterRead(hold)) {
        return true;
      }
    }
    Reader reader = new Reader(hold.slot);
    waitingReaders.add(reader);
    // A writer that opened the gate before it saw this reader never lets it in.
    if (isClosed) {
      while (reader.state.get() == Reader.WAITING && !Thread.currentThread().isInterrupted() && isClosed) {
        if (!parkUntil(deadline)) {
          break;
        }
      }
    }
    return !waitingReaders.endWait(reader) || enterRead(hold);
  }

  void unlockRead() {
    Hold hold = holds.get();
    if (hold.count <= 0) {
      throw new IllegalMonitorStateException("attempt to unlock read lock, not locked by current thread");
    }
    if (--hold.count == 0) {
      leaveRead(hold.slot);
    }
  }

  // ---- protocol: writers ----

  /** Adds a hold if this thread is the owner. */
  private boolean enterWrite() {
    if (owner != Thread.currentThread()) {
      return false;
    }
    writeHolds++;
    return true;
  }

  void lockWrite() {
    if (enterWrite()) {
      return;
    }
    boolean isInterrupted = false;
    Writer writer = new Writer();
    enqueue(writer);
    while (writer.turn == Writer.NOT_YET) {
      LockSupport.park(this);
      isInterrupted |= Thread.interrupted();
      checkTurn(writer);
    }
    if (writer.turn == Writer.LEADS) {
      while (!lead(NEVER)) {
        isInterrupted |= Thread.interrupted();
      }
    }
    acquire();
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns false once the deadline, in {@link System#nanoTime}, is over. */
  boolean lockWriteUntil(long deadline) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (enterWrite()) {
      return true;
    }
    Writer writer = new Writer();
    enqueue(writer);
    while (writer.turn == Writer.NOT_YET) {
      boolean isOver = !parkUntil(deadline);
      checkTurn(writer);
      if ((isOver || Thread.currentThread().isInterrupted()) && withdraw(writer)) {
        return giveUp();
      }
    }
    if (writer.turn == Writer.LEADS && !lead(deadline)) {
      endPhase();
      return giveUp();
    }
    acquire();
    return true;
  }

  /** Returns the deadline of a timeout. */
  static long after(long timeout, TimeUnit unit) {
    return System.nanoTime() + Math.min(unit.toNanos(timeout), Long.MAX_VALUE / 4);
  }

  /** Ends a call without the lock: throws after an interrupt, else returns false. */
  private static boolean giveUp() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return false;
  }

  /** Parks; may return early. Returns false once the deadline is over. */
  private boolean parkUntil(long deadline) {
    if (deadline == NEVER) {
      LockSupport.park(this);
      return true;
    }
    long left = deadline - System.nanoTime();
    if (left > 0) {
      LockSupport.parkNanos(this, left);
    }
    return left > 0;
  }

  boolean tryLockWrite() {
    if (enterWrite()) {
      return true;
    }
    synchronized (writers) {
      if (writers.overtake()) {
        acquire();
        return true;
      }
      if (!writers.beginPhase()) {
        return false;
      }
    }
    isClosed = true;
    if (slots.isEmpty()) {
      acquire();
      return true;
    }
    endPhase();
    return false;
  }

  /** Makes a new writer the leader, the owner, or the last of the queue. */
  private void enqueue(Writer writer) {
    // Not queued yet. With phase-fair tuning the writer would lose its place by yields.
    for (int n = 0; n < YIELDS && mayOvertakeSoon() && writers.writersLeft() < YIELDS_FOR_WRITERS; n++) {
      Thread.yield();
    }
    synchronized (writers) {
      if (writers.beginPhase()) {
        writer.turn = Writer.LEADS;
        return;
      }
      if (writers.overtake()) {
        writer.turn = Writer.HAS_IT;
        return;
      }
      writers.add(writer);
    }
  }

  /** Returns true if a writer that arrives may find the lock free after a yield. */
  private boolean mayOvertakeSoon() {
    return !tuning.isPhaseFair() && isClosed && !writers.isFree();
  }

  /** Takes the lock for a writer that was woken, if it is the first and no other took it. */
  private void checkTurn(Writer writer) {
    if (writer.turn != Writer.NOT_YET) {
      return;
    }
    synchronized (writers) {
      writers.takeTurn(writer);
    }
  }

  /** Removes a writer that gives up from the queue. Returns false if it has its turn. */
  private boolean withdraw(Writer writer) {
    Thread other = null;
    boolean isLast;
    synchronized (writers) {
      if (writer.turn != Writer.NOT_YET) {
        return false;
      }
      isLast = writers.remove(writer);
      // The writer may have been called and would not take the lock.
      if (!isLast && writers.isFree()) {
        other = writers.call();
      }
    }
    LockSupport.unpark(other);
    if (isLast) {
      endPhase();
    }
    return true;
  }

  /**
   * Changes from a phase of readers to one of writers. Returns false after an interrupt or the deadline; the caller
   * then calls it again, or gives up by {@link #endPhase}.
   */
  private boolean lead(long deadline) {
    count();
    isClosed = true;
    if (!slots.isEmpty()) {
      draining = Thread.currentThread();
      while (!slots.isEmpty()) {
        if (!parkUntil(deadline) || Thread.currentThread().isInterrupted()) {
          draining = null;
          return slots.isEmpty();
        }
      }
    }
    draining = null;
    // Writers that arrived while readers left count too.
    count();
    return true;
  }

  /** Sets the writers of this phase. */
  private void count() {
    synchronized (writers) {
      writers.limitPhase();
    }
  }

  private void acquire() {
    owner = Thread.currentThread();
    writeHolds = 1;
  }

  void unlockWrite() {
    if (owner != Thread.currentThread()) {
      throw new IllegalMonitorStateException("attempt to unlock write lock, not locked by current thread");
    }
    if (--writeHolds > 0) {
      return;
    }
    owner = null;
    // A thread that keeps the read lock is now a reader: the next writer must wait for it.
    if (holds.get().count == 0) {
      Thread next = null;
      boolean goesOn;
      synchronized (writers) {
        goesOn = writers.hasNext();
        if (goesOn) {
          next = writers.passOn();
        }
      }
      if (goesOn) {
        LockSupport.unpark(next);
        return;
      }
    }
    endPhase();
  }

  /** Changes to a phase of readers; the next writer, if one waits, leads the phase after it. */
  private void endPhase() {
    Reader readers = waitingReaders.grant(slots);
    Reader late = null;
    Writer next = tuning.isPhaseFair() ? nextLeader(true) : null;
    boolean isGateKept = next != null;
    if (!isGateKept) {
      isClosed = false;
      // Readers that were listed after the first grant. Readers that arrive now see the open gate.
      late = waitingReaders.grant(slots);
      next = nextLeader(false);
    }
    // The leader wakes before the readers: the earlier it runs, the fewer readers enter before it. With a kept gate the
    // last reader wakes it.
    if (next != null && (!isGateKept || slots.isEmpty())) {
      LockSupport.unpark(next.thread);
    }
    WaitingReaders.wake(readers);
    WaitingReaders.wake(late);
  }

  /** Returns the leader of the next phase of writers; null if no writer waits. */
  private Writer nextLeader(boolean isGateKept) {
    synchronized (writers) {
      Writer next = writers.pollLeader(isGateKept);
      if (next != null) {
        if (isGateKept) {
          // On behalf of the leader, before it knows; the leader resets it itself.
          draining = next.thread;
        }
        next.turn = Writer.LEADS;
      }
      return next;
    }
  }

  // ---- state ----

  int readers() {
    return slots.sum();
  }

  Thread writer() {
    return owner;
  }

  boolean isWriter() {
    return owner == Thread.currentThread();
  }

  int writeHolds() {
    return isWriter() ? writeHolds : 0;
  }

  int readHolds() {
    return holds.get().count;
  }

  int waitingThreads() {
    int waitingWriters;
    synchronized (writers) {
      waitingWriters = writers.size();
    }
    return waitingWriters + waitingReaders.size() + (draining != null ? 1 : 0);
  }

  @Override
  public String toString() {
    return "PhasedLock[" + tuning + ", readers = " + readers() + ", writer = " + owner
        + ", waiting = " + waitingThreads() + "]";
  }
}
