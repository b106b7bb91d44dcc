package org.yunti.namenode.queue;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Puts into a full level, and takes: no thread sleeps although there is a place, and no call is lost. */
public class WaitingStress {
  private WaitingStress() {}

  /** Much longer than any step here: a thread that waits this long was not woken. */
  private static final long SLEEPS_NS = TimeUnit.SECONDS.toNanos(2);

  /** A full level with one place. */
  @State
  public static class Full {
    final Level<Integer> level = new Level<>(1, 1);
    final WaitingPutters putters = new WaitingPutters();

    public Full() {
      level.offer(1);
    }

    /** Puts as {@code ShardedCallQueue.put} does. Returns 1 if the call is in the level. */
    final int put(int call, long nanos) {
      try {
        return putters.put(level, call, System.nanoTime() + nanos) ? 1 : 0;
      } catch (InterruptedException e) {
        return -1;
      }
    }

    /** Takes as {@code ShardedCallQueue.poll} does, and waits for a call. */
    final int take() {
      long end = System.nanoTime() + SLEEPS_NS + SLEEPS_NS / 2;
      while (System.nanoTime() - end < 0) {
        Integer call = level.poll(0);
        if (call != null) {
          putters.call();
          return call;
        }
        Thread.yield();
      }
      return -100;
    }
  }

  @JCStressTest
  @Description("Two wait for the one place, one takes three calls.")
  @Outcome(id = "1, 1, 111", expect = Expect.ACCEPTABLE, desc = "both put, all calls were taken")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a thread sleeps although there is a place, or a call is lost")
  @State
  public static class TwoWait extends Full {
    @Actor
    public void one(III_Result r) {
      r.r1 = put(10, SLEEPS_NS);
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = put(100, SLEEPS_NS);
    }

    @Actor
    public void takes(III_Result r) {
      r.r3 = take() + take() + take();
    }
  }

  @JCStressTest
  @Description("Two wait for the one place, one of them only for a moment; one takes the calls.")
  @Outcome(id = {"1, 1, 111", "1, 0, 11"}, expect = Expect.ACCEPTABLE,
      desc = "the patient one put its call; one that gave up left none")
  @Outcome(
      expect = Expect.FORBIDDEN, desc = "a thread sleeps although there is a place, or a call is lost or duplicated")
  @State
  public static class OneGivesUp extends Full {
    private int sum;

    @Actor
    public void patient(III_Result r) {
      r.r1 = put(10, SLEEPS_NS);
    }

    @Actor
    public void hasty(III_Result r) {
      r.r2 = put(100, 2_000);
    }

    @Actor
    public void takes() {
      sum = take() + take();
    }

    @Arbiter
    public void end(III_Result r) {
      Integer left = level.poll(0);
      r.r3 = sum + (left == null ? 0 : left) + level.size() * 1000;
    }
  }

  @JCStressTest
  @Description("One puts without waiting while another drains, as in a change of queues: refused, or its call is in.")
  @Outcome(id = {"1, 11, 0", "1, 1, 10", "0, 1, 0"}, expect = Expect.ACCEPTABLE,
      desc = "refused, drained, or left for the next")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or in the queue although refused")
  @State
  public static class AddedWhileDrained extends Full {
    @Actor
    public void adds(III_Result r) {
      r.r1 = level.offer(10) ? 1 : 0;
    }

    @Actor
    public void drains(III_Result r) {
      int sum = 0;
      for (Integer call = level.poll(0); call != null; call = level.poll(0)) {
        sum += call;
      }
      r.r2 = sum;
    }

    @Arbiter
    public void end(III_Result r) {
      Integer left = level.poll(0);
      r.r3 = (left == null ? 0 : left) + level.size() * 1000;
    }
  }
}
