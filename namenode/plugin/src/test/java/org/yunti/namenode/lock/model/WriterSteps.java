package org.yunti.namenode.lock.model;

import static org.yunti.namenode.lock.model.LockState.*;

/** Steps of writers and the end of their phase: from {@code lockWrite} to {@code endPhase} of the code. */
abstract class WriterSteps extends ReaderSteps {
  WriterSteps(LockModel.Setup setup, Seed seed) {
    super(setup, seed);
  }

  // ---- writers ----

  @Override
  void waitWrite(LockState s, int t, Step step) {
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

  void answered(LockState s, int t) {
    boolean givesUp = call(s, t).mayGiveUp() && (s.is(t, TIME_ENDED) || s.is(t, INTERRUPT));
    s.set(t, TIME_ENDED, 0);
    s.go(t, givesUp ? Step.GO_AWAY : Step.WRITE_TURN);
  }

  void wentAway(LockState s, int t) {
    if (s.is(t, IS_LAST)) {
      beginEnd(s, t, GIVE_UP);
    } else {
      givenUp(s, t);
    }
  }

  boolean overtake(LockState s) {
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

  /** Returns the thread to unpark. */
  int hand(LockState s) {
    int next = s.firstWriter();
    s.removeWriter(next);
    s.set(next, IS_CALLED, 0);
    s.set(WRITERS_LEFT, s.get(WRITERS_LEFT) - 1);
    s.set(OVERTAKES, 0);
    s.set(next, TURN, HAS_IT);
    return next;
  }

  /** Returns the thread to unpark, or 0. */
  int call(LockState s) {
    s.set(IS_FREE, 1);
    int first = s.firstWriter();
    if (s.is(first, IS_CALLED)) {
      return 0;
    }
    s.set(first, IS_CALLED, 1);
    return first;
  }

  @Override
  void lead(LockState s, int t, Step step) {
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
        s.overtook(t, setup.overtakesMax());
        s.countForReaders(setup.writersMax());
        end(s, t, true);
      }
      default -> throw new AssertionError(step);
    }
  }

  void count(LockState s) {
    int waiting = s.waitingWriters();
    s.set(WRITERS_LEFT, seed == Seed.WRITERS_WITHOUT_END ? waiting : Math.min(waiting, setup.writersMax() - 1));
  }

  @Override
  void hasNotLed(LockState s, int t) {
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

  @Override
  void tryOrUnlock(LockState s, int t, Step step) {
    switch (step) {
      case TRY_WRITE_CONTROL -> {
        if (overtake(s)) {
          // The code's acquire() is under the monitor here.
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
        int next = s.get(OVERTAKES) < setup.overtakesMax() ? call(s) : hand(s);
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

  @Override
  void beginEnd(LockState s, int t, int whatFor) {
    s.set(t, END_FOR, whatFor);
    s.go(t, seed == Seed.GRANTS_AFTER_THE_TURN ? Step.END_OPEN : Step.GRANT_TAKE);
  }

  @Override
  void endPhase(LockState s, int t, Step step) {
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
      case END_KEEP -> {
        int next = s.firstWriter();
        if (next == 0) {
          s.set(WRITERS_LEFT, 0);
          s.set(OVERTAKES, 0);
          s.go(t, Step.END_OPEN);
          return;
        }
        leads(s, t, next);
        if (seed != Seed.KEEPS_UNSEEN) {
          s.set(DRAINING, next);
        }
        if (seed == Seed.KEEPS_WITHOUT_A_LOOK) {
          s.set(t, OTHER, 0);
          wakeAll(s, t);
        } else {
          look(s, t, KEEP);
        }
      }
      case END_OPEN -> {
        s.set(IS_CLOSED, 0);
        s.go(t, seed == Seed.NO_SECOND_GRANT || seed == Seed.GRANTS_AFTER_THE_TURN ? Step.END_CONTROL : Step.LATE_TAKE);
      }
      case END_CONTROL -> {
        int next = s.firstWriter();
        if (next == 0) {
          s.set(WRITERS_LEFT, 0);
          s.set(OVERTAKES, 0);
          s.set(IS_WRITERS_PHASE, 0);
        } else {
          leads(s, t, next);
        }
        if (seed == Seed.GRANTS_AFTER_THE_TURN) {
          s.go(t, Step.LATE_TAKE);
        } else {
          wakeAll(s, t);
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
        s.set(t, OTHER, 0);
        nextWake(s, t);
      }
      default -> throw new AssertionError(step);
    }
  }

  /** Takes the next leader from the queue. */
  private static void leads(LockState s, int t, int next) {
    s.set(WRITERS_LEFT, 0);
    s.set(OVERTAKES, 0);
    s.removeWriter(next);
    s.set(next, IS_CALLED, 0);
    s.set(next, TURN, LEADS);
    s.set(t, OTHER, next);
  }

  @Override
  void wakeAll(LockState s, int t) {
    if (s.is(t, OTHER)) {
      s.go(t, Step.END_UNPARK);
    } else {
      nextWake(s, t);
    }
  }

  void nextGrant(LockState s, int t, boolean isLate) {
    if (s.get(t, CURSOR) == 0) {
      if (!isLate) {
        s.go(t, setup.isPhaseFair() ? Step.END_KEEP : Step.END_OPEN);
      } else if (seed == Seed.GRANTS_AFTER_THE_TURN) {
        wakeAll(s, t);
      } else {
        s.go(t, Step.END_CONTROL);
      }
    } else if (seed == Seed.LETS_IN_UNCOUNTED) {
      s.go(t, isLate ? Step.LATE_LET_IN : Step.GRANT_LET_IN);
    } else {
      s.go(t, isLate ? Step.LATE_COUNT : Step.GRANT_COUNT);
    }
  }

  void nextWake(LockState s, int t) {
    if (s.get(t, READERS) != 0) {
      s.go(t, Step.WAKE);
    } else if (s.get(t, LATE) != 0) {
      s.go(t, Step.WAKE_LATE);
    } else {
      ended(s, t);
    }
  }

  void ended(LockState s, int t) {
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
