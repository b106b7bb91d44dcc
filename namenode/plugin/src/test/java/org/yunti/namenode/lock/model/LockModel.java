package org.yunti.namenode.lock.model;

import static org.yunti.namenode.lock.model.LockState.*;

import java.util.List;
import org.yunti.namenode.check.Model;

/**
 * Model of {@code PhasedLock}: a few threads, each with a script of calls, in atomic steps. {@link Step} names the
 * statement of each. A call that ends without the lock ends its thread's script.
 *
 * <p>Further moves are events: a thread's time ends, it is interrupted (a bounded number of times), park returns
 * spuriously. No thread may depend on them.
 *
 * <p>The model differs from the code only so that more can happen. A reader yields any number of times before it parks,
 * if the gate was open. A writer arrives at any time. Threads have separate slots, or all share one. The count of
 * waiting readers is left out, since nothing depends on it.
 */
class LockModel extends WriterSteps implements Model {
  private static final int MOVES_OF_A_THREAD = 5;
  private static final int GO = 0;
  /** Alternative outcome of a step. */
  private static final int GO_OTHERWISE = 1;
  private static final int TIME_ENDS = 2;
  private static final int INTERRUPT_COMES = 3;
  private static final int PARK_RETURNS = 4;
  private static final String[] MOVE_NAMES = {
      "", " (retries)", ": its time ends", ": is interrupted", ": park returns spuriously"};

  /**
   * Parameters of a model.
   *
   * @param scripts a script for each thread
   * @param rounds number of times that each thread runs its script
   * @param interrupts interrupts of each thread, at most
   * @param isSlotShared true if all threads count in one slot
   * @param returnsForNothing true if park may return spuriously
   */
  record Setup(int writersMax, int overtakesMax, boolean isPhaseFair, List<List<Call>> scripts, int rounds,
      int interrupts, boolean isSlotShared, boolean returnsForNothing) {}

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
  public String describe(byte[] state, int move) {
    int t = 1 + move / MOVES_OF_A_THREAD;
    LockState s = LockState.of(threads, state);
    Step step = s.step(t);
    return "thread " + t + ", " + call(s, t) + ": " + step + " [" + step.method + ": " + step.statement + "]"
        + MOVE_NAMES[move % MOVES_OF_A_THREAD];
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

  /** Returns true if a thread closed the gate as a writer and has not given up. */
  private boolean wantsItClosed(LockState s, int t) {
    return switch (s.step(t)) {
      case LEAD_DRAINING, LEAD_PARK, LEAD_GIVES_UP, LEAD_DRAINED, LEAD_COUNT_AGAIN, HAS -> true;
      case EMPTY -> s.get(t, EMPTY_FOR) != LEAVE && s.get(t, EMPTY_FOR) != KEEP;
      default -> false;
    };
  }

  private boolean isClean(LockState s) {
    boolean isClean = !s.is(IS_CLOSED) && !s.is(DRAINING) && !s.is(OWNER) && !s.is(IS_WRITERS_PHASE) && !s.is(IS_FREE)
        && s.waitingWriters() == 0;
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
        if (!call(s, t).isTimed() || s.is(t, IS_OVER)
            || !isPark(step) && step != Step.WAIT_STATE && step != Step.WAIT_GONE) {
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
        if (!s.is(t, INTERRUPTS_LEFT) || s.is(t, INTERRUPT)
            || !isPark(step) && step != Step.WAIT_STATE && step != Step.WAIT_GONE) {
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
