package org.yunti.namenode.lock;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * The algorithm of {@link PhasedLock}: a re-entrant read-write lock whose readers share no written line, and in which phases of readers and of writers take turns.
 *
 * <pre>
 *   phase of readers                      | phase of writers            | phase of readers ..
 *   a reader counts in a slot of its own  | the gate is closed          | readers that waited are let in, all at once
 *   the first writer that comes closes    | as many writers as had      |
 *   the gate, and waits until no reader   | come, one after the other   |
 *   is left                               |                             |
 * </pre>
 *
 * <p>Nobody starves: a reader that is in the list waits for as many writers as had come when the gate was closed, {@code writersMax} at most, and it is in
 * the list after at most {@code YIELDS} phases that are shorter than {@code YIELDS_FOR_WRITERS} writers; a writer waits for the readers that
 * are in, for writers that came before it, and, for each of those, for {@code overtakesMax} that came later and were running when the lock became free: a
 * processor that has work is not left to wait for a thread to be woken. It is among those that wait after at most {@code YIELDS} looks.
 *
 * <p>Where it is phase-fair (the term is Brandenburg's and Anderson's, below), the gate stays closed between two phases of writers: a writer that waits does so
 * for the readers of one list, and for none that comes later. Else readers go in until the writer that leads was woken, which gives more to readers.
 *
 * <p>Rejected: {@code StampedLock}, which is not re-entrant; phases without a batch of writers (Brandenburg and Anderson, <i>Reader-Writer Synchronization
 * for Shared-Memory Multiprocessor Real-Time Systems</i>, 2009), which let all readers in after each writer: a hundred wake-ups for each; to wait a little for
 * more writers before the gate is closed, which took from throughput in each mix that was measured.
 */
final class Phases {
  static final long NEVER = Long.MAX_VALUE;
  /**
   * How often one looks again, and lets others run meanwhile, before it is parked: where it waits for few writers, they are done sooner than it would
   * be woken. With more of them it would only take their processor.
   */
  private static final int YIELDS = 10;
  private static final int YIELDS_FOR_WRITERS = 4;
  /** Of ints: two cache lines, since processors fetch them in pairs. */
  private static final int STRIDE = 32;

  /** What a thread has of the read lock. */
  private static final class Hold {
    final int slot;
    int count;

    Hold(int slot) {
      this.slot = slot;
    }
  }

  private static final class Reader {
    static final int WAITING = 0;
    static final int LET_IN = 1;
    static final int GONE = 2;

    final Thread thread = Thread.currentThread();
    final int slot;
    final AtomicInteger state = new AtomicInteger(WAITING);
    Reader next;

    Reader(int slot) {
      this.slot = slot;
    }
  }

  private static final class Writer {
    final Thread thread = Thread.currentThread();
    /** It has the lock, or is to lead the next phase of writers. */
    volatile int turn;
    static final int NOT_YET = 0;
    static final int HAS_IT = 1;
    static final int LEADS = 2;
    /** It was unparked to take the lock, and has not looked yet. */
    boolean isCalled;
  }

  private final Tuning tuning;
  private final AtomicIntegerArray slots;
  private final int mask;
  private final AtomicInteger nextSlot = new AtomicInteger();
  private final ThreadLocal<Hold> holds;

  /** Closed: a reader that comes must wait. */
  private volatile boolean isClosed;
  private final AtomicReference<Reader> waitingReaders = new AtomicReference<>();
  private final AtomicInteger waitingReadersCount = new AtomicInteger();

  /** Who waits until no reader is left. */
  private volatile Thread draining;
  private volatile Thread owner;
  /** Of the owner alone. */
  private int writeHolds;

  /** Guards what follows; held for a few instructions. */
  private final Object control = new Object();
  private final ArrayDeque<Writer> waitingWriters = new ArrayDeque<>();
  /** A writer has the lock, or leads towards it. */
  private boolean isWritersPhase;
  /** Of this phase, beside the one that has the lock. Written under {@code control}. */
  private volatile int writersLeft;
  /** In a phase of writers: nobody has the lock, and the first that waits was called. Whoever comes before it takes it. Written under {@code control}. */
  private volatile boolean isFree;
  /** Who came before the first that waits, since one that waited had it. */
  private int overtakes;

  Phases(Tuning tuning) {
    this.tuning = tuning;
    int count = Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors() * 4 - 1)) * 2;
    slots = new AtomicIntegerArray((count + 1) * STRIDE);
    mask = count - 1;
    holds = ThreadLocal.withInitial(() -> new Hold(((nextSlot.getAndIncrement() & mask) + 1) * STRIDE));
  }

  // ---- readers ----

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

  /** False: the time is over. */
  boolean lockReadUntil(long deadline) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Hold hold = holds.get();
    if (!enterRead(hold)) {
      while (!waitRead(hold, deadline)) {
        if (Thread.currentThread().isInterrupted() || deadline != NEVER && System.nanoTime() - deadline >= 0) {
          return isGivenUp();
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

  /** Counts this thread among the readers, if it needs not wait. */
  private boolean enterRead(Hold hold) {
    if (hold.count > 0) {
      return true;
    }
    // Before the gate is looked at; the one who closes it looks at the slots after that. One of the two sees the other.
    slots.getAndIncrement(hold.slot);
    if (!isClosed || owner == Thread.currentThread()) {
      return true;
    }
    leaveRead(hold.slot);
    return false;
  }

  private void leaveRead(int slot) {
    slots.getAndDecrement(slot);
    if (isClosed) {
      Thread waiting = draining;
      if (waiting != null && isEmpty()) {
        LockSupport.unpark(waiting);
      }
    }
  }

  private boolean isEmpty() {
    for (int slot = STRIDE; slot < slots.length(); slot += STRIDE) {
      if (slots.get(slot) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Waits until it is let in, or for some other reason to look again: an interrupt, the end of the time, a gate that was opened meanwhile. */
  private boolean waitRead(Hold hold, long deadline) {
    // Not in the list yet: a writer that comes later may be before it, a few times.
    for (int n = 0; n < YIELDS && writersLeft < YIELDS_FOR_WRITERS; n++) {
      Thread.yield();
      if (!isClosed && enterRead(hold)) {
        return true;
      }
    }
    Reader reader = new Reader(hold.slot);
    waitingReadersCount.getAndIncrement();
    do {
      reader.next = waitingReaders.get();
    } while (!waitingReaders.compareAndSet(reader.next, reader));
    // Whoever opened the gate before it saw this one will never let it in.
    if (isClosed) {
      while (reader.state.get() == Reader.WAITING && !Thread.currentThread().isInterrupted() && isClosed) {
        if (!parkUntil(deadline)) {
          break;
        }
      }
    }
    waitingReadersCount.getAndDecrement();
    if (!reader.state.compareAndSet(Reader.WAITING, Reader.GONE)) {
      return true;
    }
    return enterRead(hold);
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

  /** Counts those readers that wait. */
  private Reader grant() {
    Reader first = waitingReaders.getAndSet(null);
    for (Reader reader = first; reader != null; reader = reader.next) {
      slots.getAndIncrement(reader.slot);
      if (!reader.state.compareAndSet(Reader.WAITING, Reader.LET_IN)) {
        slots.getAndDecrement(reader.slot);
      }
    }
    return first;
  }

  private static void wake(Reader first) {
    for (Reader reader = first; reader != null; reader = reader.next) {
      LockSupport.unpark(reader.thread);
    }
  }

  // ---- writers ----

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
    come(writer);
    while (writer.turn == Writer.NOT_YET) {
      LockSupport.park(this);
      isInterrupted |= Thread.interrupted();
      answer(writer);
    }
    if (writer.turn == Writer.LEADS) {
      while (!lead(NEVER)) {
        isInterrupted |= Thread.interrupted();
      }
    }
    has();
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** False: the time is over. */
  boolean lockWriteUntil(long deadline) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (enterWrite()) {
      return true;
    }
    Writer writer = new Writer();
    come(writer);
    while (writer.turn == Writer.NOT_YET) {
      boolean isOver = !parkUntil(deadline);
      answer(writer);
      if ((isOver || Thread.currentThread().isInterrupted()) && goAway(writer)) {
        return isGivenUp();
      }
    }
    if (writer.turn == Writer.LEADS && !lead(deadline)) {
      endPhase();
      return isGivenUp();
    }
    has();
    return true;
  }

  static long after(long timeout, TimeUnit unit) {
    return System.nanoTime() + Math.min(unit.toNanos(timeout), Long.MAX_VALUE / 4);
  }

  private static boolean isGivenUp() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return false;
  }

  /** False: it is over. */
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
    synchronized (control) {
      if (overtake()) {
        has();
        return true;
      }
      if (isWritersPhase) {
        return false;
      }
      isWritersPhase = true;
    }
    isClosed = true;
    if (isEmpty()) {
      has();
      return true;
    }
    endPhase();
    return false;
  }

  private void come(Writer writer) {
    // Nobody knows of it yet. Where phases are fair it would lose its place by that.
    for (int n = 0; n < YIELDS && !tuning.isPhaseFair() && isClosed && !isFree && writersLeft < YIELDS_FOR_WRITERS; n++) {
      Thread.yield();
    }
    synchronized (control) {
      if (!isWritersPhase) {
        isWritersPhase = true;
        writer.turn = Writer.LEADS;
        return;
      }
      if (overtake()) {
        writer.turn = Writer.HAS_IT;
        return;
      }
      waitingWriters.addLast(writer);
    }
  }

  /** Takes the lock if it is free. Under {@code control}. */
  private boolean overtake() {
    if (!isFree) {
      return false;
    }
    isFree = false;
    writersLeft--;
    overtakes++;
    return true;
  }

  /** Of one that has waited: it takes the lock, if it is the first and nobody was before it. */
  private void answer(Writer writer) {
    if (writer.turn != Writer.NOT_YET) {
      return;
    }
    synchronized (control) {
      writer.isCalled = false;
      if (isFree && waitingWriters.peekFirst() == writer) {
        isFree = false;
        hand();
      }
    }
  }

  /** To the first that waits. Under {@code control}. */
  private Thread hand() {
    Writer next = waitingWriters.removeFirst();
    writersLeft--;
    overtakes = 0;
    next.turn = Writer.HAS_IT;
    return next.thread;
  }

  /** The first that waits, if it does not know. Under {@code control}. */
  private Thread call() {
    isFree = true;
    Writer first = waitingWriters.getFirst();
    if (first.isCalled) {
      return null;
    }
    first.isCalled = true;
    return first.thread;
  }

  /** False: it has its turn. */
  private boolean goAway(Writer writer) {
    Thread other = null;
    boolean isLast;
    synchronized (control) {
      if (writer.turn != Writer.NOT_YET) {
        return false;
      }
      waitingWriters.remove(writer);
      // It may have been called, and would not come.
      isLast = isFree && waitingWriters.isEmpty();
      if (isLast) {
        isFree = false;
      } else if (isFree) {
        other = call();
      }
    }
    LockSupport.unpark(other);
    if (isLast) {
      endPhase();
    }
    return true;
  }

  /** From a phase of readers to one of writers. False: interrupted, or the time is over; it may be called again, or given up by {@link #endPhase}. */
  private boolean lead(long deadline) {
    count();
    isClosed = true;
    if (!isEmpty()) {
      draining = Thread.currentThread();
      while (!isEmpty()) {
        if (!parkUntil(deadline) || Thread.currentThread().isInterrupted()) {
          draining = null;
          return isEmpty();
        }
      }
    }
    draining = null;
    // Of those too that came while readers left.
    count();
    return true;
  }

  private void count() {
    synchronized (control) {
      writersLeft = Math.min(waitingWriters.size(), tuning.writersMax() - 1);
    }
  }

  private void has() {
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
    // One that keeps the read lock is a reader by now: the next writer must wait for it.
    if (holds.get().count == 0) {
      Thread next = null;
      boolean goesOn;
      synchronized (control) {
        goesOn = writersLeft > 0 && !waitingWriters.isEmpty();
        if (goesOn) {
          next = overtakes < tuning.overtakesMax() ? call() : hand();
        }
      }
      if (goesOn) {
        LockSupport.unpark(next);
        return;
      }
    }
    endPhase();
  }

  /** To a phase of readers; the next writer, if there is one, leads to the one after. */
  private void endPhase() {
    Reader readers = grant();
    Reader late = null;
    Writer next = tuning.isPhaseFair() ? nextLeader(true) : null;
    boolean isGateKept = next != null;
    if (!isGateKept) {
      isClosed = false;
      // Those that came while it was still closed, and after the others were taken. Whoever comes now sees that it is open.
      late = grant();
      next = nextLeader(false);
    }
    // Before the readers: the sooner it is there, the fewer it waits for. Where the gate is kept, the last of them wakes it.
    if (next != null && (!isGateKept || isEmpty())) {
      LockSupport.unpark(next.thread);
    }
    wake(readers);
    wake(late);
  }

  /** Null: no writer waits. */
  private Writer nextLeader(boolean isGateKept) {
    synchronized (control) {
      writersLeft = 0;
      overtakes = 0;
      Writer next = waitingWriters.pollFirst();
      if (next == null) {
        // Where the gate was to be kept, it is opened now: until then this is still the phase of writers.
        isWritersPhase = isGateKept;
        return null;
      }
      if (isGateKept) {
        // In its name, and before it knows: it takes that back itself.
        draining = next.thread;
      }
      next.turn = Writer.LEADS;
      return next;
    }
  }

  // ---- what is told ----

  int readers() {
    int sum = 0;
    for (int slot = STRIDE; slot < slots.length(); slot += STRIDE) {
      sum += slots.get(slot);
    }
    return sum;
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
    int writers;
    synchronized (control) {
      writers = waitingWriters.size();
    }
    return writers + waitingReadersCount.get() + (draining != null ? 1 : 0);
  }

  @Override
  public String toString() {
    return "PhasedLock[" + tuning + ", readers = " + readers() + ", writer = " + owner + ", waiting = " + waitingThreads() + "]";
  }
}
