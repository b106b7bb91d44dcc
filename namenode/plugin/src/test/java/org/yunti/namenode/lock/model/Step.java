package org.yunti.namenode.lock.model;

/**
 * Step of a thread of the model: one access to shared state, with its method and statement in the code. Accesses to the
 * thread's own state belong to the step before.
 *
 * <p>A block under the monitor of {@code WriterQueue} is one step. Outside the monitor, threads read only these of its
 * fields: {@code turn}; {@code draining}, which is written first, so that a thread woken early by it enters the monitor
 * next; and {@code writersLeft} and {@code isFree}, by threads that are not queued yet, for which the model allows both
 * outcomes.
 */
enum Step {
  DONE("", ""),

  ENTER_COUNT("enterRead", "slots.enter(hold.slot)"),
  ENTER_GATE("enterRead", "if (!isClosed || owner == Thread.currentThread())"),
  LEAVE_COUNT("leaveRead", "slots.leave(slot)"),
  LEAVE_GATE("leaveRead", "if (isClosed)"),
  LEAVE_DRAINING("leaveRead", "Thread waiting = draining"),
  LEAVE_UNPARK("leaveRead", "LockSupport.unpark(waiting)"),
  /** One slot; other threads may move between two of these steps. */
  EMPTY("isEmpty", "if (slots.get(slot) != 0)"),

  /** Or before it, several times: {@code if (!isClosed && enterRead(hold))}. */
  WAIT_PUSH("add", "while (!head.compareAndSet(reader.next, reader))"),
  WAIT_GATE("waitRead", "if (isClosed) {"),
  WAIT_STATE("waitRead",
      "while (reader.state.get() == Reader.WAITING && !Thread.currentThread().isInterrupted() && isClosed)"),
  WAIT_GATE_AGAIN("waitRead", "&& isClosed)"),
  WAIT_PARK("waitRead", "if (!parkUntil(deadline))"),
  WAIT_GONE("endWait", "return reader.state.compareAndSet(Reader.WAITING, Reader.GONE)"),

  GRANT_TAKE("grant", "Reader first = head.getAndSet(null)"),
  GRANT_COUNT("grant", "slots.enter(reader.slot)"),
  GRANT_LET_IN("grant", "if (!reader.state.compareAndSet(Reader.WAITING, Reader.LET_IN))"),
  GRANT_UNCOUNT("grant", "slots.leave(reader.slot)"),
  END_OPEN("endPhase", "isClosed = false"),
  LATE_TAKE("grant", "Reader first = head.getAndSet(null)"),
  LATE_COUNT("grant", "slots.enter(reader.slot)"),
  LATE_LET_IN("grant", "if (!reader.state.compareAndSet(Reader.WAITING, Reader.LET_IN))"),
  LATE_UNCOUNT("grant", "slots.leave(reader.slot)"),
  END_KEEP("nextLeader", "draining = next.thread"),
  END_CONTROL("nextLeader", "Writer next = writers.pollLeader(isGateKept)"),
  WAKE("wake", "LockSupport.unpark(reader.thread)"),
  WAKE_LATE("wake", "LockSupport.unpark(reader.thread)"),
  END_UNPARK("endPhase", "LockSupport.unpark(next.thread)"),

  COME("enqueue", "writers.add(writer)"),
  WRITE_TURN("lockWriteUntil", "while (writer.turn == Writer.NOT_YET)"),
  WRITE_PARK("lockWriteUntil", "boolean isOver = !parkUntil(deadline)"),
  ANSWER_TURN("checkTurn", "if (writer.turn != Writer.NOT_YET)"),
  ANSWER("takeTurn", "if (isFree && waitingWriters.peekFirst() == writer)"),
  GO_AWAY("withdraw", "writers.remove(writer)"),
  GO_AWAY_UNPARK("withdraw", "LockSupport.unpark(other)"),

  LEAD_COUNT("lead", "count()"),
  LEAD_CLOSE("lead", "isClosed = true"),
  LEAD_DRAINING("lead", "draining = Thread.currentThread()"),
  LEAD_PARK("lead", "if (!parkUntil(deadline) || Thread.currentThread().isInterrupted())"),
  LEAD_GIVES_UP("lead", "draining = null"),
  LEAD_DRAINED("lead", "draining = null"),
  LEAD_COUNT_AGAIN("lead", "count()"),
  HAS("acquire", "owner = Thread.currentThread()"),

  TRY_WRITE_CONTROL("tryLockWrite", "if (writers.overtake())"),
  TRY_WRITE_CLOSE("tryLockWrite", "isClosed = true"),
  UNLOCK_WRITE_OWNER("unlockWrite", "owner = null"),
  UNLOCK_WRITE_CONTROL("passOn", "return overtakes < tuning.overtakesMax() ? call() : hand()"),
  UNLOCK_WRITE_UNPARK("unlockWrite", "LockSupport.unpark(next)");

  private static final Step[] ALL = values();

  final String method;
  final String statement;

  Step(String method, String statement) {
    this.method = method;
    this.statement = statement;
  }

  static Step of(int number) {
    return ALL[number];
  }
}
