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
 * (the gate must have been open), a writer comes whenever it likes, and each thread has a slot of its own or all share one. Left out, since nothing depends on it: {@code waitingReadersCount}.
 */
class LockModel extends WriterSteps implements Model {
  private static final int MOVES_OF_A_THREAD = 5;
  private static final int GO = 0;
  /** The other thing that a step may be. */
  private static final int GO_OTHERWISE = 1;
  private static final int TIME_ENDS = 2;
  private static final int INTERRUPT_COMES = 3;
  private static final int PARK_RETURNS = 4;
  private static final String[] TOLD = {"", " (looks again)", ": its time ends", ": is interrupted", ": park returns for no reason"};

  /**
   * What is looked at.
   *
   * @param scripts one a thread
   * @param rounds how often each goes through its own
   * @param interrupts that come to each thread, at most
   * @param isSlotShared all threads count in the same one
   * @param returnsForNothing park may return for no reason
   */
  record Setup(int writersMax, int overtakesMax, boolean isPhaseFair, List<List<Call>> scripts, int rounds, int interrupts, boolean isSlotShared, boolean returnsForNothing) {}

  private final int[] groups;

  LockModel(Setup setup, Seed seed) {
    super(setup, seed);
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
      case EMPTY -> s.get(t, EMPTY_FOR) != LEAVE && s.get(t, EMPTY_FOR) != KEEP;
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
}
