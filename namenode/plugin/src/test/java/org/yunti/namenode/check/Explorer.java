package org.yunti.namenode.check;

import java.util.ArrayList;
import java.util.List;

/**
 * Explorer of all reachable states of a {@link Model}, depth first, each state once. The stack is the path to a fault.
 *
 * <p>Faults are: a state that the model calls one; a state before the end without a move that must happen (a deadlock,
 * a lost wake-up); and, as an option, a cycle (threads that run without progress). Without a fault, and if the model's
 * threads do a bounded number of things, each path leads to the end.
 *
 * <p>Limitation: a state is identified by 127 bits of its hash ({@link StateSet}). Among a hundred million states, two
 * collide with a probability below 10<sup>-22</sup>; the explorer would then skip one.
 */
public final class Explorer {
  /**
   * Result of an exploration.
   *
   * @param fault name of the fault, or null
   * @param way moves from the initial state to it
   */
  public record Outcome(long states, long moves, int depthMax, String fault, List<String> way) {
    @Override
    public String toString() {
      String size = states + " states, " + moves + " moves, " + depthMax + " deep";
      return fault == null ? size : fault + "\n  " + String.join("\n  ", way) + "\n(" + size + ")";
    }
  }

  private static final class Frame {
    final byte[] state;
    int next;
    boolean isStuck = true;

    Frame(byte[] state) {
      this.state = state;
    }
  }

  private final Model model;
  private final boolean isCircleAFault;
  private final StateSet seen = new StateSet();
  private final ArrayList<Frame> stack = new ArrayList<>();
  private long moves;
  private int depthMax;

  /**
   * @param isCircleAFault true if a cycle is a fault; only for models whose optional moves are bounded in number
   */
  public Explorer(Model model, boolean isCircleAFault) {
    this.model = model;
    this.isCircleAFault = isCircleAFault;
  }

  /**
   * Explores all states.
   *
   * @throws IllegalStateException if there are more states than this
   */
  public Outcome explore(long statesMax) {
    String fault = enter(model.initial());
    while (fault == null && !stack.isEmpty()) {
      Frame top = stack.get(stack.size() - 1);
      byte[] after = null;
      while (after == null && top.next < model.moves()) {
        after = model.after(top.state, top.next++);
      }
      if (after == null) {
        if (top.isStuck && !model.isOver(top.state)) {
          fault = "deadlock: no thread can move";
          break;
        }
        seen.leave(top.state);
        stack.remove(stack.size() - 1);
        continue;
      }
      moves++;
      if (model.isProgress(top.next - 1)) {
        top.isStuck = false;
      }
      fault = enter(after);
      if (seen.size() > statesMax) {
        throw new IllegalStateException(
            "more than " + statesMax + " states: make the model smaller, or the bound larger");
      }
    }
    List<String> way = new ArrayList<>();
    if (fault != null) {
      stack.forEach(frame -> {
        if (frame.next > 0) {
          way.add(model.describe(frame.state, frame.next - 1));
        }
      });
    }
    return new Outcome(seen.size(), moves, depthMax, fault, way);
  }

  private String enter(byte[] state) {
    StateSet.Known known = seen.enter(state);
    if (known == StateSet.Known.NEW) {
      String fault = model.fault(state);
      if (fault != null) {
        return fault;
      }
      stack.add(new Frame(state));
      depthMax = Math.max(depthMax, stack.size());
      return null;
    }
    return known == StateSet.Known.ON_THE_WAY && isCircleAFault ? "cycle without progress" : null;
  }
}
