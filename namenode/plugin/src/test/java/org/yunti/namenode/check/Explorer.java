package org.yunti.namenode.check;

import java.util.ArrayList;
import java.util.List;

/**
 * All states that a {@link Model} can come to, each looked at once, depth first: the way to a fault is what lies on the stack.
 *
 * <p>A fault is what the model calls one; a state that is not the end, and from which nothing leads on that may be counted on (a deadlock, a wake-up that was
 * lost); and, if asked for, a way around in a circle (threads that run and get nowhere). Where there is neither, and the model's threads do a bounded number of
 * things, each way through it leads to the end.
 *
 * <p>Limit: a state is known by 127 bits of a hash of it ({@link StateSet}). Among a hundred million states two have the same with a probability below
 * 10<sup>-22</sup>; one of them would then not be looked at.
 */
public final class Explorer {
  /**
   * What was found.
   *
   * @param fault null: none
   * @param way the moves that lead to it, from the beginning
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
   * @param isCircleAFault only for a model all of whose moves may be counted on, or happen a bounded number of times
   */
  public Explorer(Model model, boolean isCircleAFault) {
    this.model = model;
    this.isCircleAFault = isCircleAFault;
  }

  /**
   * @throws IllegalStateException there are more states than this
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
          fault = "nobody can go on";
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
        throw new IllegalStateException("more than " + statesMax + " states: make the model smaller, or the bound larger");
      }
    }
    List<String> way = new ArrayList<>();
    if (fault != null) {
      stack.forEach(frame -> {
        if (frame.next > 0) {
          way.add(model.told(frame.state, frame.next - 1));
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
    return known == StateSet.Known.ON_THE_WAY && isCircleAFault ? "it goes around in a circle" : null;
  }
}
