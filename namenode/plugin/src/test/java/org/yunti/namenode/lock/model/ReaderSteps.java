package org.yunti.namenode.lock.model;

import static org.yunti.namenode.lock.model.LockState.*;

/** Steps of calls and readers: from {@code lockRead} to {@code wake} of the code, with its method names. */
abstract class ReaderSteps {
  // Return addresses of methods.
  static final int FIRST = 0;
  static final int AGAIN = 1;
  static final int AFTER_PARK = 2;
  static final int UNLOCK = 3;
  static final int ENTER = 4;
  static final int LEAVE = 5;
  static final int GIVE_UP = 6;
  static final int TRY = 7;
  static final int KEEP = 8;

  final LockModel.Setup setup;
  final Seed seed;
  final int threads;
  final Call[][] scripts;

  ReaderSteps(LockModel.Setup setup, Seed seed) {
    this.setup = setup;
    this.seed = seed;
    threads = setup.scripts().size();
    scripts = setup.scripts().stream().map(script -> script.toArray(new Call[0])).toArray(Call[][]::new);
  }

  abstract void waitWrite(LockState s, int t, Step step);

  abstract void lead(LockState s, int t, Step step);

  /** Continues after {@code lead} returned false. */
  abstract void hasNotLed(LockState s, int t);

  abstract void tryOrUnlock(LockState s, int t, Step step);

  /** Goes to the first step of {@code endPhase}. */
  abstract void beginEnd(LockState s, int t, int whatFor);

  /** Starts the wake-ups of {@code endPhase}, the next leader first. */
  abstract void wakeAll(LockState s, int t);

  abstract void endPhase(LockState s, int t, Step step);

  Call call(LockState s, int t) {
    Call[] script = scripts[t - 1];
    return script[Math.min(s.get(t, CALL), script.length - 1)];
  }

  int slotOf(int t) {
    return setup.isSlotShared() ? 0 : t - 1;
  }

  // ---- calls ----

  /** Starts the thread's call: goes to its first step, or through it if it accesses no shared state. */
  void begin(LockState s, int t) {
    while (true) {
      if (s.get(t, CALL) == scripts[t - 1].length) {
        s.set(t, CALL, 0);
        s.set(t, ROUND, s.get(t, ROUND) + 1);
      }
      if (s.get(t, ROUND) == setup.rounds()) {
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

  /** Ends the call. */
  void end(LockState s, int t, boolean hasIt) {
    for (int field : new int[] {ENTER_FOR, LEAVE_FOR, EMPTY_FOR, END_FOR, SLOT, OTHER, NODE_OWN, READERS, LATE, CURSOR,
             IS_LAST, TIME_ENDED, TURN, IS_OVER}) {
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

  /** Ends the call without the lock, by {@code giveUp}; the model does not distinguish an exception and false. */
  void givenUp(LockState s, int t) {
    s.set(t, INTERRUPT, 0);
    s.forget(t);
    end(s, t, false);
  }

  void go(LockState s, int t, Step step) {
    switch (step) {
      case ENTER_COUNT, ENTER_GATE, LEAVE_COUNT, LEAVE_GATE, LEAVE_DRAINING, LEAVE_UNPARK, EMPTY ->
        enterOrLeave(s, t, step);
      case WAIT_PUSH, WAIT_GATE, WAIT_STATE, WAIT_GATE_AGAIN, WAIT_GONE -> waitRead(s, t, step);
      case WAIT_PARK, WRITE_PARK, LEAD_PARK -> {
        boolean isTimeLeft = !s.is(t, IS_OVER);
        // park consumes a permit before it checks the interrupt flag, which stays set.
        if (isTimeLeft && s.is(t, PERMIT)) {
          s.set(t, PERMIT, 0);
        }
        parked(s, t, step, isTimeLeft);
      }
      case COME, WRITE_TURN, ANSWER_TURN, ANSWER, GO_AWAY, GO_AWAY_UNPARK -> waitWrite(s, t, step);
      case LEAD_COUNT, LEAD_CLOSE, LEAD_DRAINING, LEAD_GIVES_UP, LEAD_DRAINED, LEAD_COUNT_AGAIN, HAS ->
        lead(s, t, step);
      case TRY_WRITE_CONTROL, TRY_WRITE_CLOSE, UNLOCK_WRITE_OWNER, UNLOCK_WRITE_CONTROL, UNLOCK_WRITE_UNPARK ->
        tryOrUnlock(s, t, step);
      default -> endPhase(s, t, step);
    }
  }

  // ---- readers ----

  void enterRead(LockState s, int t, int whatFor) {
    s.set(t, ENTER_FOR, whatFor);
    s.go(t, seed == Seed.GATE_BEFORE_COUNT ? Step.ENTER_GATE : Step.ENTER_COUNT);
  }

  void enterOrLeave(LockState s, int t, Step step) {
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
        if (seed == Seed.LEAVES_WITHOUT_WAKING
            || seed == Seed.GOES_BACK_WITHOUT_WAKING && s.get(t, LEAVE_FOR) == ENTER) {
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
        } else if (setup.isSlotShared() || slot + 1 == threads) {
          looked(s, t, true);
        } else {
          s.set(t, SLOT, slot + 1);
        }
      }
      default -> throw new AssertionError(step);
    }
  }

  void entered(LockState s, int t, boolean isIn) {
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

  void hasRead(LockState s, int t) {
    s.set(t, READS, 1);
    end(s, t, true);
  }

  void left(LockState s, int t) {
    s.set(t, OTHER, 0);
    if (s.get(t, LEAVE_FOR) == UNLOCK) {
      end(s, t, true);
    } else {
      s.set(t, LEAVE_FOR, 0);
      entered(s, t, false);
    }
  }

  /** Starts {@code isEmpty}. */
  void look(LockState s, int t, int whatFor) {
    s.set(t, EMPTY_FOR, whatFor);
    s.set(t, SLOT, 0);
    s.go(t, Step.EMPTY);
  }

  void looked(LockState s, int t, boolean isEmpty) {
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
      case FIRST -> s.go(t, isEmpty ? Step.LEAD_DRAINED : Step.LEAD_DRAINING);
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
      case KEEP -> {
        if (!isEmpty) {
          s.set(t, OTHER, 0);
        }
        wakeAll(s, t);
      }
      default -> throw new AssertionError(whatFor);
    }
  }

  void waitRead(LockState s, int t, Step step) {
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
      case WAIT_STATE ->
        s.go(t, s.node(node, NODE_STATE) == WAITING && !s.is(t, INTERRUPT) ? Step.WAIT_GATE_AGAIN : Step.WAIT_GONE);
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

  /** Continues after {@code waitRead} returned false. */
  void waited(LockState s, int t) {
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

  /** Continues after {@code parkUntil}. */
  void parked(LockState s, int t, Step step, boolean isTimeLeft) {
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

  static void unpark(LockState s, int thread) {
    if (thread != 0 && s.step(thread) != Step.DONE) {
      s.set(thread, PERMIT, 1);
    }
  }
}
