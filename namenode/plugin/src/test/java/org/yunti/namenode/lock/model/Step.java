package org.yunti.namenode.lock.model;

/**
 * What a thread of the model does next: one access to what threads share, with the method and the statement of {@code Phases.java} that it stands for. What
 * a thread does with its own things alone is done together with the step before. A block under {@code control} is one step: of what it touches, only
 * {@code turn} is looked at outside; {@code draining} too, which is written before: who is woken by it so early asks for {@code control} next; and
 * {@code writersLeft} and {@code isFree}, by those that are still to be in a list, whom the model lets do either way.
 */
enum Step {
  DONE("", ""),

  ENTER_COUNT("enterRead", "slots.getAndIncrement(hold.slot)"),
  ENTER_GATE("enterRead", "if (!isClosed || owner == Thread.currentThread())"),
  LEAVE_COUNT("leaveRead", "slots.getAndDecrement(slot)"),
  LEAVE_GATE("leaveRead", "if (isClosed)"),
  LEAVE_DRAINING("leaveRead", "Thread waiting = draining"),
  LEAVE_UNPARK("leaveRead", "LockSupport.unpark(waiting)"),
  /** One slot: others move between two of them. */
  EMPTY("isEmpty", "if (slots.get(slot) != 0)"),

  /** Or, some times before: {@code if (!isClosed && enterRead(hold))}. */
  WAIT_PUSH("waitRead", "while (!waitingReaders.compareAndSet(reader.next, reader))"),
  WAIT_GATE("waitRead", "if (isClosed) {"),
  WAIT_STATE("waitRead", "while (reader.state.get() == Reader.WAITING && !Thread.currentThread().isInterrupted() && isClosed)"),
  WAIT_GATE_AGAIN("waitRead", "&& isClosed)"),
  WAIT_PARK("waitRead", "if (!parkUntil(deadline))"),
  WAIT_GONE("waitRead", "if (!reader.state.compareAndSet(Reader.WAITING, Reader.GONE))"),

  GRANT_TAKE("grant", "Reader first = waitingReaders.getAndSet(null)"),
  GRANT_COUNT("grant", "slots.getAndIncrement(reader.slot)"),
  GRANT_LET_IN("grant", "if (!reader.state.compareAndSet(Reader.WAITING, Reader.LET_IN))"),
  GRANT_UNCOUNT("grant", "slots.getAndDecrement(reader.slot)"),
  END_OPEN("endPhase", "isClosed = false"),
  LATE_TAKE("grant", "Reader first = waitingReaders.getAndSet(null)"),
  LATE_COUNT("grant", "slots.getAndIncrement(reader.slot)"),
  LATE_LET_IN("grant", "if (!reader.state.compareAndSet(Reader.WAITING, Reader.LET_IN))"),
  LATE_UNCOUNT("grant", "slots.getAndDecrement(reader.slot)"),
  END_KEEP("nextLeader", "draining = next.thread"),
  END_CONTROL("nextLeader", "Writer next = waitingWriters.pollFirst()"),
  WAKE("wake", "LockSupport.unpark(reader.thread)"),
  WAKE_LATE("wake", "LockSupport.unpark(reader.thread)"),
  END_UNPARK("endPhase", "LockSupport.unpark(next.thread)"),

  COME("come", "waitingWriters.addLast(writer)"),
  WRITE_TURN("lockWriteUntil", "while (writer.turn == Writer.NOT_YET)"),
  WRITE_PARK("lockWriteUntil", "boolean isOver = !parkUntil(deadline)"),
  ANSWER_TURN("answer", "if (writer.turn != Writer.NOT_YET)"),
  ANSWER("answer", "if (isFree && waitingWriters.peekFirst() == writer)"),
  GO_AWAY("goAway", "waitingWriters.remove(writer)"),
  GO_AWAY_UNPARK("goAway", "LockSupport.unpark(other)"),

  LEAD_COUNT("lead", "count()"),
  LEAD_CLOSE("lead", "isClosed = true"),
  LEAD_DRAINING("lead", "draining = Thread.currentThread()"),
  LEAD_PARK("lead", "if (!parkUntil(deadline) || Thread.currentThread().isInterrupted())"),
  LEAD_GIVES_UP("lead", "draining = null"),
  LEAD_DRAINED("lead", "draining = null"),
  LEAD_COUNT_AGAIN("lead", "count()"),
  HAS("has", "owner = Thread.currentThread()"),

  TRY_WRITE_CONTROL("tryLockWrite", "if (overtake())"),
  TRY_WRITE_CLOSE("tryLockWrite", "isClosed = true"),
  UNLOCK_WRITE_OWNER("unlockWrite", "owner = null"),
  UNLOCK_WRITE_CONTROL("unlockWrite", "next = overtakes < tuning.overtakesMax() ? call() : hand()"),
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
