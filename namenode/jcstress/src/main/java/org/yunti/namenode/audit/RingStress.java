package org.yunti.namenode.audit;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.IIII_Result;

/** Ring of the audit log: no event is lost or duplicated, each thread's events keep their order, capacity holds. */
public class RingStress {
  private RingStress() {}

  /** Returns an event with a number: 11 and 12 for the first thread, 21 and 22 for the other. */
  private static AuditEvent event(int number) {
    return new AuditEvent(number, true, "u", null, "open", "/a", null, null, false, null, "rpc", null, null);
  }

  /** Puts an event and waits for a place, as a handler does. */
  private static void put(EventRing ring, int number) {
    AuditEvent event = event(number);
    while (!ring.offer(event)) {
      Thread.yield();
    }
  }

  /** Events taken, as a digit each, by their thread. */
  private static final class Taken {
    int one;
    int other;

    void add(AuditEvent event) {
      int number = (int) event.millis();
      if (number < 20) {
        one = one * 10 + number % 10;
      } else {
        other = other * 10 + number % 10;
      }
    }
  }

  /** Takes all events. */
  private static void takeAll(EventRing ring, Taken taken) {
    for (AuditEvent event = ring.poll(); event != null; event = ring.poll()) {
      taken.add(event);
    }
  }

  @JCStressTest
  @Description("Two threads put two events each into two places and wait for a place; one takes.")
  @Outcome(id = "12, 12, 0", expect = Expect.ACCEPTABLE, desc = "all events, each thread's in order")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, duplicated, or in another order")
  @State
  public static class TwoPutOneTakes {
    private final EventRing ring = new EventRing(2);
    private final Taken taken = new Taken();

    @Actor
    public void one() {
      put(ring, 11);
      put(ring, 12);
    }

    @Actor
    public void other() {
      put(ring, 21);
      put(ring, 22);
    }

    @Actor
    public void takes() {
      for (int number = 0; number < 4; ) {
        AuditEvent event = ring.poll();
        if (event == null) {
          Thread.yield();
        } else {
          taken.add(event);
          number++;
        }
      }
    }

    @Arbiter
    public void end(III_Result r) {
      r.r1 = taken.one;
      r.r2 = taken.other;
      r.r3 = ring.size();
    }
  }

  @JCStressTest
  @Description("Two threads put into a full ring without waiting; one takes an event, which frees a place.")
  @Outcome(id = {"1, 0, 1, 0", "1, 1, 0, 0", "0, 0, 0, 0"}, expect = Expect.ACCEPTABLE,
      desc = "at most one had the place, and its event is in the ring")
  @Outcome(expect = Expect.FORBIDDEN, desc = "two in one place, or an event with a place is missing")
  @State
  public static class FullRing {
    private final EventRing ring = new EventRing(2);
    private boolean isOneIn;
    private boolean isOtherIn;

    public FullRing() {
      ring.offer(event(0));
      ring.offer(event(0));
    }

    @Actor
    public void one() {
      isOneIn = ring.offer(event(11));
    }

    @Actor
    public void other() {
      isOtherIn = ring.offer(event(21));
    }

    @Actor
    public void takes() {
      ring.poll();
    }

    @Arbiter
    public void end(IIII_Result r) {
      ring.poll();
      Taken taken = new Taken();
      takeAll(ring, taken);
      r.r1 = (isOneIn ? 1 : 0) + (isOtherIn ? 1 : 0);
      r.r2 = taken.one;
      r.r3 = taken.other;
      r.r4 = ring.size() + (isOneIn == (taken.one == 1) && isOtherIn == (taken.other == 1) ? 0 : -100);
    }
  }

  /** The consumer must see a complete event. */
  @JCStressTest
  @Description("One thread puts and another takes: the event is complete, now or later, and its place is empty again.")
  @Outcome(id = {"11, 12, 0", "11, 0, 12", "0, 11, 12"}, expect = Expect.ACCEPTABLE, desc = "in order")
  @Outcome(id = {"0, 0, 1112"}, expect = Expect.ACCEPTABLE, desc = "later")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, duplicated, or incomplete")
  @State
  public static class OnePutsOneTakes {
    private final EventRing ring = new EventRing(2);

    private static int whole(AuditEvent event) {
      return event == null ? 0 : "/a".equals(event.source()) && "u".equals(event.user()) ? (int) event.millis() : -1;
    }

    @Actor
    public void puts() {
      ring.offer(event(11));
      ring.offer(event(12));
    }

    @Actor
    public void takes(III_Result r) {
      r.r1 = whole(ring.poll());
      r.r2 = whole(ring.poll());
    }

    @Arbiter
    public void end(III_Result r) {
      int left = 0;
      for (AuditEvent event = ring.poll(); event != null; event = ring.poll()) {
        left = left * 100 + whole(event);
      }
      r.r3 = left;
    }
  }

  /**
   * End of the process, as in {@code AuditWriter}: after a put, each thread checks for the end. It then takes the rest
   * itself, under the consumer's lock, including events behind a place that is being written. Otherwise another thread
   * would take its event, after its next one.
   */
  @JCStressTest
  @Description("Two threads put while the log ends: their events are taken in order by the time all are done.")
  @Outcome(id = "12, 12, 0", expect = Expect.ACCEPTABLE, desc = "all events, each thread's in order")
  @Outcome(expect = Expect.FORBIDDEN, desc = "left in the ring, or in another order")
  @State
  public static class EndedWhileTwoPut {
    private final EventRing ring = new EventRing(4);
    private final Taken taken = new Taken();
    private volatile boolean isEnding;

    private synchronized void takeNow(AuditEvent last) {
      long claimed = ring.claimed();
      long never = System.nanoTime() + Long.MAX_VALUE / 4;
      for (AuditEvent event = ring.pollClaimed(claimed, never); event != null;
          event = ring.pollClaimed(claimed, never)) {
        taken.add(event);
      }
      if (last != null) {
        taken.add(last);
      }
    }

    private void putOrTake(int number) {
      if (isEnding) {
        takeNow(event(number));
        return;
      }
      put(ring, number);
      if (isEnding) {
        takeNow(null);
      }
    }

    @Actor
    public void one() {
      putOrTake(11);
      putOrTake(12);
    }

    @Actor
    public void other() {
      putOrTake(21);
      putOrTake(22);
    }

    @Actor
    public void ends() {
      isEnding = true;
      takeNow(null);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r1 = taken.one;
      r.r2 = taken.other;
      r.r3 = ring.size();
    }
  }
}
