package org.yunti.namenode.lock.model;

import static org.yunti.namenode.lock.model.LockState.*;

import java.util.List;
import org.yunti.namenode.check.Model;

/**
 * The protocol of {@code PhasedLock}, step by step ({@link Step} says which statement each is), for a few threads that each go through a script of calls. A call
 * that ends without the lock ends its thread's way through the script.
 *
 * <p>Besides the steps there are things that happen to a thread, on which nothing may depend: its time is over, it is interrupted (so often as is said), park
 * returns for no reason.
 *
 * <p>Taken to be otherwise than in the code, and always so that more can happen: a reader that is to look again before it is parked does so any number of times
 * (the gate must have been open), and each thread has a slot of its own or all share one. Left out, since nothing depends on it: {@code waitingReadersCount}.
 */
class LockModel implements Model {
  private static final int MOVES_OF_A_THREAD = 5;
  private static final int GO = 0;
  /** The other thing that a step may be. */
  private static final int GO_OTHERWISE = 1;
  private static final int TIME_ENDS = 2;
  private static final int INTERRUPT_COMES = 3;
  private static final int PARK_RETURNS = 4;
  private static final String[] TOLD = {"", " (looks again)", ": its time ends", ": is interrupted", ": park returns for no reason"};

  // What a method returns to.
  private static final int FIRST = 0;
  private static final int AGAIN = 1;
  private static final int AFTER_PARK = 2;
  private static final int UNLOCK = 3;
  private static final int ENTER = 4;
  private static final int LEAVE = 5;
  private static final int GIVE_UP = 6;
  private static final int TRY = 7;

  /**
   * What is looked at.
   *
   * @param scripts one a thread
   * @param rounds how often each goes through its own
   * @param interrupts that come to each thread, at most
   * @param isSlotShared all threads count in the same one
   * @param returnsForNothing park may return for no reason
   */
  record Setup(int writersMax, int overtakesMax, List<List<Call>> scripts, int rounds, int interrupts, boolean isSlotShared, boolean returnsForNothing) {}

  private final Setup setup;
  private final Seed seed;
  private final int threads;
  private final Call[][] scripts;
  private final int[] groups;

  LockModel(Setup setup, Seed seed) {
    this.setup = setup;
    this.seed = seed;
    threads = setup.scripts.size();
    scripts = setup.scripts.stream().map(script -> script.toArray(new Call[0])).toArray(Call[][]::new);
    groups = setup.scripts.stream().mapToInt(setup.scripts::indexOf).toArray();
  }

  @Override
  public byte[] initial() {
    LockState s = LockState.empty(threads);
    for (int t = 1; t <= threads; t++) {
      s.set(t, INTERRUPTS_LEFT, setup.interrupts);
      begin(s, t);
    }
    return s.bytes;
  }

  @Override
  public int moves() {
    return threads * MOVES_OF_A_THREAD;
  }

  @Override
  public boolean isProgress(int move) {
    return move % MOVES_OF_A_THREAD <= GO_OTHERWISE;
  }

  @Override
  public boolean isOver(byte[] state) {
    LockState s = LockState.of(threads, state);
    for (int t = 1; t <= threads; t++) {
      if (s.step(t) != Step.DONE) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String told(byte[] state, int move) {
    int t = 1 + move / MOVES_OF_A_THREAD;
    LockState s = LockState.of(threads, state);
    Step step = s.step(t);
    return "thread " + t + ", " + call(s, t) + ": " + step + " [" + step.method + ": " + step.statement + "]" + TOLD[move % MOVES_OF_A_THREAD];
  }

  @Override
  public String fault(byte[] state) {
    LockState s = LockState.of(threads, state);
    if (s.get(FAULT) != 0) {
      return Fault.values()[s.get(FAULT)].name();
    }
    int writers = 0;
    int readers = 0;
    for (int t = 1; t <= threads; t++) {
      if (s.get(t, WRITES) > 0) {
        writers++;
      } else if (s.get(t, READS) > 0) {
        readers++;
      }
      if (!s.is(IS_CLOSED) && (s.get(t, WRITES) > 0 || wantsItClosed(s, t))) {
        return Fault.GATE_OPEN_FOR_A_WRITER.name();
      }
    }
    if (writers > 1 || writers == 1 && readers > 0) {
      return Fault.TWO_INSIDE.name();
    }
    return isOver(state) && !isClean(s) ? Fault.NOT_CLEAN_AT_THE_END.name() : null;
  }

  /** A writer closed the gate for itself, and has not given up. */
  private boolean wantsItClosed(LockState s, int t) {
    return switch (s.step(t)) {
      case LEAD_DRAINING, LEAD_PARK, LEAD_GIVES_UP, LEAD_DRAINED, LEAD_COUNT_AGAIN, HAS -> true;
      case EMPTY -> s.get(t, EMPTY_FOR) != LEAVE;
      default -> false;
    };
  }

  private boolean isClean(LockState s) {
    boolean isClean = !s.is(IS_CLOSED) && !s.is(DRAINING) && !s.is(OWNER) && !s.is(IS_WRITERS_PHASE) && !s.is(IS_FREE) && s.waitingWriters() == 0;
    for (int slot = 0; slot < threads; slot++) {
      isClean &= s.slot(slot) == 0;
    }
    for (int node = s.get(WAITING_READERS); node != 0; node = s.node(node, NODE_NEXT)) {
      isClean &= s.node(node, NODE_STATE) == GONE;
    }
    return isClean;
  }

  private Call call(LockState s, int t) {
    Call[] script = scripts[t - 1];
    return script[Math.min(s.get(t, CALL), script.length - 1)];
  }

  private int slotOf(int t) {
    return setup.isSlotShared ? 0 : t - 1;
  }

  @Override
  public byte[] after(byte[] state, int move) {
    int t = 1 + move / MOVES_OF_A_THREAD;
    LockState s = LockState.of(threads, state);
    Step step = s.step(t);
    if (step == Step.DONE) {
      return null;
    }
    return switch (move % MOVES_OF_A_THREAD) {
      case GO -> {
        if (isPark(step) && !s.is(t, PERMIT) && !s.is(t, INTERRUPT) && !s.is(t, IS_OVER)) {
          yield null;
        }
        LockState after = s.copy();
        go(after, t, step);
        yield named(after);
      }
      case GO_OTHERWISE -> {
        if (step != Step.WAIT_PUSH || s.is(IS_CLOSED)) {
          yield null;
        }
        LockState after = s.copy();
        enterRead(after, t, AGAIN);
        yield named(after);
      }
      case TIME_ENDS -> {
        if (!call(s, t).isTimed() || s.is(t, IS_OVER) || !isPark(step) && step != Step.WAIT_STATE && step != Step.WAIT_GONE) {
          yield null;
        }
        LockState after = s.copy();
        after.set(t, IS_OVER, 1);
        if (isPark(step)) {
          parked(after, t, step, true);
        }
        yield named(after);
      }
      case INTERRUPT_COMES -> {
        if (!s.is(t, INTERRUPTS_LEFT) || s.is(t, INTERRUPT) || !isPark(step) && step != Step.WAIT_STATE && step != Step.WAIT_GONE) {
          yield null;
        }
        LockState after = s.copy();
        after.set(t, INTERRUPTS_LEFT, after.get(t, INTERRUPTS_LEFT) - 1);
        after.set(t, INTERRUPT, 1);
        yield named(after);
      }
      case PARK_RETURNS -> {
        if (!setup.returnsForNothing || !isPark(step) || s.is(t, PERMIT) || s.is(t, INTERRUPT) || s.is(t, IS_OVER)) {
          yield null;
        }
        LockState after = s.copy();
        parked(after, t, step, true);
        yield named(after);
      }
      default -> throw new AssertionError(move);
    };
  }

  private byte[] named(LockState s) {
    return s.named(groups, setup.isSlotShared).bytes;
  }

  private static boolean isPark(Step step) {
    return step == Step.WAIT_PARK || step == Step.WRITE_PARK || step == Step.LEAD_PARK;
  }

  // ---- calls ----

  /** The call that the thread is at: to its first step, or, where it touches nothing of others, through it. */
  private void begin(LockState s, int t) {
    while (true) {
      if (s.get(t, CALL) == scripts[t - 1].length) {
        s.set(t, CALL, 0);
        s.set(t, ROUND, s.get(t, ROUND) + 1);
      }
      if (s.get(t, ROUND) == setup.rounds) {
        s.go(t, Step.DONE);
        return;
      }
      Call call = call(s, t);
      if (call.mayGiveUp() && s.is(t, INTERRUPT)) {
        s.set(t, INTERRUPT, 0);
        s.set(t, CALL, scripts[t - 1].length);
        continue;
      }
      switch (call) {
        case LOCK_READ, LOCK_READ_INTERRUPTIBLE, LOCK_READ_TIMED, TRY_READ -> {
          if (s.get(t, READS) == 0) {
            enterRead(s, t, FIRST);
            return;
          }
          s.set(t, READS, s.get(t, READS) + 1);
        }
        case UNLOCK_READ -> {
          if (s.get(t, READS) == 1) {
            s.set(t, LEAVE_FOR, UNLOCK);
            s.go(t, Step.LEAVE_COUNT);
            return;
          }
          s.set(t, READS, s.get(t, READS) - 1);
        }
        case LOCK_WRITE, LOCK_WRITE_INTERRUPTIBLE, LOCK_WRITE_TIMED, TRY_WRITE -> {
          if (s.get(t, WRITES) == 0) {
            s.go(t, call == Call.TRY_WRITE ? Step.TRY_WRITE_CONTROL : Step.COME);
            return;
          }
          s.set(t, WRITES, s.get(t, WRITES) + 1);
        }
        case UNLOCK_WRITE -> {
          if (s.get(t, WRITES) == 1) {
            s.go(t, Step.UNLOCK_WRITE_OWNER);
            return;
          }
          s.set(t, WRITES, s.get(t, WRITES) - 1);
        }
        default -> throw new AssertionError(call);
      }
      s.set(t, CALL, s.get(t, CALL) + 1);
    }
  }

  /** The call has returned. */
  private void end(LockState s, int t, boolean hasIt) {
    for (int field : new int[] {ENTER_FOR, LEAVE_FOR, EMPTY_FOR, END_FOR, SLOT, OTHER, NODE_OWN, READERS, LATE, CURSOR, IS_LAST, TIME_ENDED, TURN, IS_OVER}) {
      s.set(t, field, 0);
    }
    if (s.is(t, IS_INTERRUPTED)) {
      s.set(t, IS_INTERRUPTED, 0);
      s.set(t, INTERRUPT, 1);
    }
    s.collect();
    s.set(t, CALL, hasIt ? s.get(t, CALL) + 1 : scripts[t - 1].length);
    begin(s, t);
  }

  /** {@code isGivenUp}: an exception or false, which is one to the model. */
  private void givenUp(LockState s, int t) {
    s.set(t, INTERRUPT, 0);
    s.forget(t);
    end(s, t, false);
  }

  private void go(LockState s, int t, Step step) {
    switch (step) {
      case ENTER_COUNT, ENTER_GATE, LEAVE_COUNT, LEAVE_GATE, LEAVE_DRAINING, LEAVE_UNPARK, EMPTY -> enterOrLeave(s, t, step);
      case WAIT_PUSH, WAIT_GATE, WAIT_STATE, WAIT_GATE_AGAIN, WAIT_GONE -> waitRead(s, t, step);
      case WAIT_PARK, WRITE_PARK, LEAD_PARK -> {
        boolean isTimeLeft = !s.is(t, IS_OVER);
        // A permit is taken before the flag is looked at, which stays.
        if (isTimeLeft && s.is(t, PERMIT)) {
          s.set(t, PERMIT, 0);
        }
        parked(s, t, step, isTimeLeft);
      }
      case COME, WRITE_TURN, ANSWER_TURN, ANSWER, GO_AWAY, GO_AWAY_UNPARK -> waitWrite(s, t, step);
      case LEAD_COUNT, LEAD_CLOSE, LEAD_DRAINING, LEAD_GIVES_UP, LEAD_DRAINED, LEAD_COUNT_AGAIN, HAS -> lead(s, t, step);
      case TRY_WRITE_CONTROL, TRY_WRITE_CLOSE, UNLOCK_WRITE_OWNER, UNLOCK_WRITE_CONTROL, UNLOCK_WRITE_UNPARK -> tryOrUnlock(s, t, step);
      default -> endPhase(s, t, step);
    }
  }

  // ---- readers ----

  private void enterRead(LockState s, int t, int whatFor) {
    s.set(t, ENTER_FOR, whatFor);
    s.go(t, seed == Seed.GATE_BEFORE_COUNT ? Step.ENTER_GATE : Step.ENTER_COUNT);
  }

  private void enterOrLeave(LockState s, int t, Step step) {
    switch (step) {
      case ENTER_COUNT -> {
        s.addToSlot(slotOf(t), 1);
        if (seed == Seed.GATE_BEFORE_COUNT) {
          entered(s, t, true);
        } else {
          s.go(t, Step.ENTER_GATE);
        }
      }
      case ENTER_GATE -> {
        boolean isOpen = !s.is(IS_CLOSED) || s.get(OWNER) == t;
        if (seed == Seed.GATE_BEFORE_COUNT) {
          if (isOpen) {
            s.go(t, Step.ENTER_COUNT);
          } else {
            entered(s, t, false);
          }
        } else if (isOpen) {
          entered(s, t, true);
        } else {
          s.set(t, LEAVE_FOR, ENTER);
          s.go(t, Step.LEAVE_COUNT);
        }
      }
      case LEAVE_COUNT -> {
        s.addToSlot(slotOf(t), -1);
        if (s.get(t, LEAVE_FOR) == UNLOCK) {
          s.set(t, READS, 0);
        }
        if (seed == Seed.LEAVES_WITHOUT_WAKING || seed == Seed.GOES_BACK_WITHOUT_WAKING && s.get(t, LEAVE_FOR) == ENTER) {
          left(s, t);
        } else {
          s.go(t, Step.LEAVE_GATE);
        }
      }
      case LEAVE_GATE -> {
        if (s.is(IS_CLOSED)) {
          s.go(t, Step.LEAVE_DRAINING);
        } else {
          left(s, t);
        }
      }
      case LEAVE_DRAINING -> {
        s.set(t, OTHER, s.get(DRAINING));
        if (s.is(DRAINING)) {
          look(s, t, LEAVE);
        } else {
          left(s, t);
        }
      }
      case LEAVE_UNPARK -> {
        unpark(s, s.get(t, OTHER));
        left(s, t);
      }
      case EMPTY -> {
        int slot = s.get(t, SLOT);
        if (s.slot(slot) != 0) {
          looked(s, t, false);
        } else if (setup.isSlotShared || slot + 1 == threads) {
          looked(s, t, true);
        } else {
          s.set(t, SLOT, slot + 1);
        }
      }
      default -> throw new AssertionError(step);
    }
  }

  private void entered(LockState s, int t, boolean isIn) {
    int whatFor = s.get(t, ENTER_FOR);
    s.set(t, ENTER_FOR, 0);
    if (isIn) {
      hasRead(s, t);
    } else if (whatFor == AFTER_PARK) {
      waited(s, t);
    } else if (call(s, t) == Call.TRY_READ) {
      end(s, t, false);
    } else {
      s.go(t, Step.WAIT_PUSH);
    }
  }

  private void hasRead(LockState s, int t) {
    s.set(t, READS, 1);
    end(s, t, true);
  }

  private void left(LockState s, int t) {
    s.set(t, OTHER, 0);
    if (s.get(t, LEAVE_FOR) == UNLOCK) {
      end(s, t, true);
    } else {
      s.set(t, LEAVE_FOR, 0);
      entered(s, t, false);
    }
  }

  /** {@code isEmpty}. */
  private void look(LockState s, int t, int whatFor) {
    s.set(t, EMPTY_FOR, whatFor);
    s.set(t, SLOT, 0);
    s.go(t, Step.EMPTY);
  }

  private void looked(LockState s, int t, boolean isEmpty) {
    int whatFor = s.get(t, EMPTY_FOR);
    s.set(t, EMPTY_FOR, 0);
    s.set(t, SLOT, 0);
    switch (whatFor) {
      case LEAVE -> {
        if (isEmpty) {
          s.go(t, Step.LEAVE_UNPARK);
        } else {
          left(s, t);
        }
      }
      case FIRST -> s.go(t, isEmpty ? Step.LEAD_COUNT_AGAIN : Step.LEAD_DRAINING);
      case AGAIN -> s.go(t, isEmpty ? Step.LEAD_DRAINED : Step.LEAD_PARK);
      case GIVE_UP -> {
        if (isEmpty) {
          s.go(t, Step.HAS);
        } else {
          hasNotLed(s, t);
        }
      }
      case TRY -> {
        if (isEmpty) {
          s.go(t, Step.HAS);
        } else {
          beginEnd(s, t, TRY);
        }
      }
      default -> throw new AssertionError(whatFor);
    }
  }

  private void waitRead(LockState s, int t, Step step) {
    int node = s.get(t, NODE_OWN);
    switch (step) {
      case WAIT_PUSH -> {
        node = s.newNode(t);
        s.setNode(node, NODE_NEXT, s.get(WAITING_READERS));
        s.set(WAITING_READERS, node);
        s.set(t, NODE_OWN, node);
        s.go(t, seed == Seed.WAITS_WITHOUT_A_SECOND_LOOK ? Step.WAIT_PARK : Step.WAIT_GATE);
      }
      case WAIT_GATE -> s.go(t, s.is(IS_CLOSED) ? Step.WAIT_STATE : Step.WAIT_GONE);
      case WAIT_STATE -> s.go(t, s.node(node, NODE_STATE) == WAITING && !s.is(t, INTERRUPT) ? Step.WAIT_GATE_AGAIN : Step.WAIT_GONE);
      case WAIT_GATE_AGAIN -> s.go(t, s.is(IS_CLOSED) ? Step.WAIT_PARK : Step.WAIT_GONE);
      case WAIT_GONE -> {
        boolean isIn = s.node(node, NODE_STATE) == LET_IN;
        if (!isIn) {
          s.setNode(node, NODE_STATE, GONE);
        }
        s.set(t, NODE_OWN, 0);
        s.collect();
        if (isIn) {
          hasRead(s, t);
        } else {
          enterRead(s, t, AFTER_PARK);
        }
      }
      default -> throw new AssertionError(step);
    }
  }

  /** {@code waitRead} returned false. */
  private void waited(LockState s, int t) {
    if (call(s, t).mayGiveUp()) {
      if (s.is(t, INTERRUPT) || s.is(t, IS_OVER)) {
        givenUp(s, t);
        return;
      }
    } else if (s.is(t, INTERRUPT)) {
      s.set(t, INTERRUPT, 0);
      s.set(t, IS_INTERRUPTED, 1);
    }
    s.go(t, Step.WAIT_PUSH);
  }

  /** What follows {@code parkUntil}. */
  private void parked(LockState s, int t, Step step, boolean isTimeLeft) {
    switch (step) {
      case WAIT_PARK -> s.go(t, isTimeLeft ? Step.WAIT_STATE : Step.WAIT_GONE);
      case WRITE_PARK -> {
        if (!call(s, t).mayGiveUp() && s.is(t, INTERRUPT)) {
          s.set(t, INTERRUPT, 0);
          s.set(t, IS_INTERRUPTED, 1);
        }
        s.set(t, TIME_ENDED, isTimeLeft ? 0 : 1);
        s.go(t, Step.ANSWER_TURN);
      }
      case LEAD_PARK -> {
        if (!isTimeLeft || s.is(t, INTERRUPT)) {
          s.go(t, Step.LEAD_GIVES_UP);
        } else {
          look(s, t, AGAIN);
        }
      }
      default -> throw new AssertionError(step);
    }
  }

  private static void unpark(LockState s, int thread) {
    if (thread != 0 && s.step(thread) != Step.DONE) {
      s.set(thread, PERMIT, 1);
    }
  }

  // ---- writers ----

  private void waitWrite(LockState s, int t, Step step) {
    switch (step) {
      case COME -> {
        s.came(t);
        s.set(t, TURN, NOT_YET);
        if (!s.is(IS_WRITERS_PHASE)) {
          s.set(IS_WRITERS_PHASE, 1);
          s.set(t, TURN, LEADS);
          s.go(t, Step.LEAD_COUNT);
        } else if (overtake(s)) {
          s.set(t, TURN, HAS_IT);
          s.go(t, Step.HAS);
        } else {
          s.addWriter(t);
          s.go(t, Step.WRITE_TURN);
        }
      }
      case WRITE_TURN -> s.go(t, switch (s.get(t, TURN)) {
        case HAS_IT -> Step.HAS;
        case LEADS -> Step.LEAD_COUNT;
        default -> Step.WRITE_PARK;
      });
      case ANSWER_TURN -> {
        if (s.get(t, TURN) == NOT_YET) {
          s.go(t, Step.ANSWER);
        } else {
          answered(s, t);
        }
      }
      case ANSWER -> {
        if (seed != Seed.STAYS_CALLED) {
          s.set(t, IS_CALLED, 0);
        }
        if (s.is(IS_FREE) && s.firstWriter() == t) {
          s.set(IS_FREE, 0);
          hand(s);
        }
        answered(s, t);
      }
      case GO_AWAY -> {
        if (s.get(t, TURN) != NOT_YET) {
          s.go(t, Step.WRITE_TURN);
          return;
        }
        s.removeWriter(t);
        s.set(t, IS_CALLED, 0);
        boolean isLast = s.is(IS_FREE) && s.waitingWriters() == 0 && seed != Seed.GIVES_UP_THE_PHASE;
        s.set(t, IS_LAST, isLast ? 1 : 0);
        if (isLast) {
          s.set(IS_FREE, 0);
        } else if (s.is(IS_FREE) && s.waitingWriters() > 0 && seed != Seed.GIVES_UP_THE_CALL) {
          s.set(t, OTHER, call(s));
        }
        if (s.is(t, OTHER)) {
          s.go(t, Step.GO_AWAY_UNPARK);
        } else {
          wentAway(s, t);
        }
      }
      case GO_AWAY_UNPARK -> {
        unpark(s, s.get(t, OTHER));
        s.set(t, OTHER, 0);
        wentAway(s, t);
      }
      default -> throw new AssertionError(step);
    }
  }

  private void answered(LockState s, int t) {
    boolean givesUp = call(s, t).mayGiveUp() && (s.is(t, TIME_ENDED) || s.is(t, INTERRUPT));
    s.set(t, TIME_ENDED, 0);
    s.go(t, givesUp ? Step.GO_AWAY : Step.WRITE_TURN);
  }

  private void wentAway(LockState s, int t) {
    if (s.is(t, IS_LAST)) {
      beginEnd(s, t, GIVE_UP);
    } else {
      givenUp(s, t);
    }
  }

  private boolean overtake(LockState s) {
    if (!s.is(IS_FREE)) {
      return false;
    }
    if (seed != Seed.OVERTAKES_TWICE) {
      s.set(IS_FREE, 0);
    }
    if (seed != Seed.OVERTAKES_FOR_NOTHING) {
      s.set(WRITERS_LEFT, s.get(WRITERS_LEFT) - 1);
    }
    if (seed != Seed.OVERTAKES_WITHOUT_END) {
      s.set(OVERTAKES, s.get(OVERTAKES) + 1);
    }
    return true;
  }

  /** The thread to unpark. */
  private int hand(LockState s) {
    int next = s.firstWriter();
    s.removeWriter(next);
    s.set(next, IS_CALLED, 0);
    s.set(WRITERS_LEFT, s.get(WRITERS_LEFT) - 1);
    s.set(OVERTAKES, 0);
    s.set(next, TURN, HAS_IT);
    return next;
  }

  /** The thread to unpark, or 0. */
  private int call(LockState s) {
    s.set(IS_FREE, 1);
    int first = s.firstWriter();
    if (s.is(first, IS_CALLED)) {
      return 0;
    }
    s.set(first, IS_CALLED, 1);
    return first;
  }

  private void lead(LockState s, int t, Step step) {
    switch (step) {
      case LEAD_COUNT -> {
        count(s);
        s.go(t, Step.LEAD_CLOSE);
      }
      case LEAD_CLOSE -> {
        s.set(IS_CLOSED, 1);
        look(s, t, FIRST);
      }
      case LEAD_DRAINING -> {
        s.set(DRAINING, t);
        if (seed == Seed.DRAINS_WITHOUT_A_SECOND_LOOK) {
          s.go(t, Step.LEAD_PARK);
        } else {
          look(s, t, AGAIN);
        }
      }
      case LEAD_GIVES_UP -> {
        s.set(DRAINING, 0);
        look(s, t, GIVE_UP);
      }
      case LEAD_DRAINED -> {
        s.set(DRAINING, 0);
        s.go(t, Step.LEAD_COUNT_AGAIN);
      }
      case LEAD_COUNT_AGAIN -> {
        count(s);
        s.go(t, Step.HAS);
      }
      case HAS -> {
        s.set(OWNER, t);
        s.set(t, WRITES, 1);
        s.overtook(t, setup.overtakesMax);
        s.countForReaders(setup.writersMax);
        end(s, t, true);
      }
      default -> throw new AssertionError(step);
    }
  }

  private void count(LockState s) {
    int waiting = s.waitingWriters();
    s.set(WRITERS_LEFT, seed == Seed.WRITERS_WITHOUT_END ? waiting : Math.min(waiting, setup.writersMax - 1));
  }

  /** {@code lead} returned false. */
  private void hasNotLed(LockState s, int t) {
    if (!call(s, t).mayGiveUp()) {
      s.set(t, INTERRUPT, 0);
      s.set(t, IS_INTERRUPTED, 1);
      s.go(t, Step.LEAD_COUNT);
    } else if (seed == Seed.LEADER_JUST_LEAVES) {
      s.set(IS_WRITERS_PHASE, 0);
      givenUp(s, t);
    } else {
      beginEnd(s, t, GIVE_UP);
    }
  }

  private void tryOrUnlock(LockState s, int t, Step step) {
    switch (step) {
      case TRY_WRITE_CONTROL -> {
        if (overtake(s)) {
          // The code's has() is under control here.
          s.came(t);
          lead(s, t, Step.HAS);
        } else if (s.is(IS_WRITERS_PHASE)) {
          end(s, t, false);
        } else {
          s.set(IS_WRITERS_PHASE, 1);
          s.came(t);
          s.go(t, Step.TRY_WRITE_CLOSE);
        }
      }
      case TRY_WRITE_CLOSE -> {
        s.set(IS_CLOSED, 1);
        look(s, t, TRY);
      }
      case UNLOCK_WRITE_OWNER -> {
        s.set(t, WRITES, 0);
        s.set(OWNER, 0);
        if (s.get(t, READS) == 0 || seed == Seed.DOWNGRADE_HANDS_OVER) {
          s.go(t, Step.UNLOCK_WRITE_CONTROL);
        } else {
          beginEnd(s, t, UNLOCK);
        }
      }
      case UNLOCK_WRITE_CONTROL -> {
        if (s.get(WRITERS_LEFT) <= 0 && seed != Seed.WRITERS_WITHOUT_END || s.waitingWriters() == 0) {
          beginEnd(s, t, UNLOCK);
          return;
        }
        int next = s.get(OVERTAKES) < setup.overtakesMax ? call(s) : hand(s);
        if (next == 0) {
          end(s, t, true);
        } else {
          s.set(t, OTHER, next);
          s.go(t, Step.UNLOCK_WRITE_UNPARK);
        }
      }
      case UNLOCK_WRITE_UNPARK -> {
        unpark(s, s.get(t, OTHER));
        end(s, t, true);
      }
      default -> throw new AssertionError(step);
    }
  }

  // ---- from writers to readers ----

  private void beginEnd(LockState s, int t, int whatFor) {
    s.set(t, END_FOR, whatFor);
    s.go(t, seed == Seed.GRANTS_AFTER_THE_TURN ? Step.END_OPEN : Step.GRANT_TAKE);
  }

  private void endPhase(LockState s, int t, Step step) {
    int cursor = s.get(t, CURSOR);
    switch (step) {
      case GRANT_TAKE, LATE_TAKE -> {
        int first = s.get(WAITING_READERS);
        s.set(WAITING_READERS, 0);
        s.set(t, step == Step.GRANT_TAKE ? READERS : LATE, first);
        s.set(t, CURSOR, first);
        nextGrant(s, t, step == Step.LATE_TAKE);
      }
      case GRANT_COUNT, LATE_COUNT -> {
        s.addToSlot(slotOf(s.node(cursor, NODE_THREAD)), 1);
        s.go(t, step == Step.GRANT_COUNT ? Step.GRANT_LET_IN : Step.LATE_LET_IN);
      }
      case GRANT_LET_IN, LATE_LET_IN -> {
        boolean isLate = step == Step.LATE_LET_IN;
        if (s.node(cursor, NODE_STATE) == WAITING) {
          s.setNode(cursor, NODE_STATE, LET_IN);
        } else if (seed != Seed.KEEPS_THE_COUNT_OF_THE_GONE) {
          s.go(t, isLate ? Step.LATE_UNCOUNT : Step.GRANT_UNCOUNT);
          return;
        }
        s.set(t, CURSOR, s.node(cursor, NODE_NEXT));
        nextGrant(s, t, isLate);
      }
      case GRANT_UNCOUNT, LATE_UNCOUNT -> {
        s.addToSlot(slotOf(s.node(cursor, NODE_THREAD)), -1);
        s.set(t, CURSOR, s.node(cursor, NODE_NEXT));
        nextGrant(s, t, step == Step.LATE_UNCOUNT);
      }
      case END_OPEN -> {
        s.set(IS_CLOSED, 0);
        s.go(t, seed == Seed.NO_SECOND_GRANT || seed == Seed.GRANTS_AFTER_THE_TURN ? Step.END_CONTROL : Step.LATE_TAKE);
      }
      case END_CONTROL -> {
        s.set(WRITERS_LEFT, 0);
        s.set(OVERTAKES, 0);
        int next = s.firstWriter();
        if (next == 0) {
          s.set(IS_WRITERS_PHASE, 0);
        } else {
          s.removeWriter(next);
          s.set(next, IS_CALLED, 0);
          s.set(next, TURN, LEADS);
        }
        s.set(t, OTHER, next);
        if (seed == Seed.GRANTS_AFTER_THE_TURN) {
          s.go(t, Step.LATE_TAKE);
        } else {
          nextWake(s, t);
        }
      }
      case WAKE, WAKE_LATE -> {
        int list = step == Step.WAKE ? READERS : LATE;
        int node = s.get(t, list);
        unpark(s, s.node(node, NODE_THREAD));
        s.set(t, list, s.node(node, NODE_NEXT));
        s.collect();
        nextWake(s, t);
      }
      case END_UNPARK -> {
        unpark(s, s.get(t, OTHER));
        ended(s, t);
      }
      default -> throw new AssertionError(step);
    }
  }

  private void nextGrant(LockState s, int t, boolean isLate) {
    if (s.get(t, CURSOR) == 0) {
      if (!isLate) {
        s.go(t, Step.END_OPEN);
      } else if (seed == Seed.GRANTS_AFTER_THE_TURN) {
        nextWake(s, t);
      } else {
        s.go(t, Step.END_CONTROL);
      }
    } else if (seed == Seed.LETS_IN_UNCOUNTED) {
      s.go(t, isLate ? Step.LATE_LET_IN : Step.GRANT_LET_IN);
    } else {
      s.go(t, isLate ? Step.LATE_COUNT : Step.GRANT_COUNT);
    }
  }

  private void nextWake(LockState s, int t) {
    if (s.get(t, READERS) != 0) {
      s.go(t, Step.WAKE);
    } else if (s.get(t, LATE) != 0) {
      s.go(t, Step.WAKE_LATE);
    } else if (s.get(t, OTHER) != 0) {
      s.go(t, Step.END_UNPARK);
    } else {
      ended(s, t);
    }
  }

  private void ended(LockState s, int t) {
    if (s.get(t, END_FOR) == UNLOCK) {
      end(s, t, true);
    } else if (s.get(t, END_FOR) == GIVE_UP) {
      givenUp(s, t);
    } else {
      s.forget(t);
      end(s, t, false);
    }
  }
}
