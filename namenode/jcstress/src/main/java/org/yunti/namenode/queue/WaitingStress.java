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

/** Who puts into a full queue, and who takes: none sleeps beside a place, and no call is lost. */
public class WaitingStress {
  private WaitingStress() {}

  /** Much longer than anything here takes: who waits so long was not called. */
  private static final long SLEEPS_NS = TimeUnit.SECONDS.toNanos(2);

  /** One place, as the last of a level that is full. */
  @State
  public static class Full {
    final Level<Integer> level = new Level<>(1, 1);
    final WaitingPutters putters = new WaitingPutters();

    public Full() {
      level.offer(1);
    }

    /** As {@code ShardedCallQueue.put}. 1: it is in. */
    final int put(int call, long nanos) {
      try {
        return putters.put(level, call, System.nanoTime() + nanos) ? 1 : 0;
      } catch (InterruptedException e) {
        return -1;
      }
    }

    /** As {@code ShardedCallQueue.poll}, until there is one. */
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
  @Outcome(id = "1, 1, 111", expect = Expect.ACCEPTABLE, desc = "both came in, all were taken")
  @Outcome(expect = Expect.FORBIDDEN, desc = "one sleeps beside a place, or a call is lost")
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
  @Description("Two wait for the one place, one of them only a moment; one takes what there is.")
  @Outcome(id = {"1, 1, 111", "1, 0, 11"}, expect = Expect.ACCEPTABLE, desc = "who waits came in; who gave up is not there")
  @Outcome(expect = Expect.FORBIDDEN, desc = "one sleeps beside a place, or a call is lost or there twice")
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
  @Description("One puts, and does not wait, while another drains the queue, as a change of queues does: it is refused, or its call is there.")
  @Outcome(id = {"1, 11, 0", "1, 1, 10", "0, 1, 0"}, expect = Expect.ACCEPTABLE, desc = "refused, drained, or left for the next")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or there though refused")
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
