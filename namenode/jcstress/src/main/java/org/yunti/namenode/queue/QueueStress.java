package org.yunti.namenode.queue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Parts of the sharded call queue: no call is lost or taken twice, shards are bounded, handlers do not oversleep. */
public class QueueStress {
  private QueueStress() {}

  private static int taken(Integer call) {
    return call == null ? 0 : call;
  }

  @JCStressTest
  @Description("One puts while another takes: the call is taken once, now or later.")
  @Outcome(id = "0, 7", expect = Expect.ACCEPTABLE, desc = "taken later")
  @Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "taken at once")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or taken twice")
  @State
  public static class PutAndTake {
    private final Level<Integer> level = new Level<>(4, 2);

    @Actor
    public void puts() {
      level.offer(7);
    }

    @Actor
    public void takes(II_Result r) {
      r.r1 = taken(level.poll(0));
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = taken(level.poll(1)) + level.size() * 100;
    }
  }

  @JCStressTest
  @Description("Two threads take the only call.")
  @Outcome(id = {"7, 0, 0", "0, 7, 0"}, expect = Expect.ACCEPTABLE, desc = "one of the two succeeds")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or taken twice")
  @State
  public static class TwoTake {
    private final Level<Integer> level = new Level<>(4, 2);

    public TwoTake() {
      level.offer(7);
    }

    @Actor
    public void one(III_Result r) {
      r.r1 = taken(level.poll(0));
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = taken(level.poll(1));
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = level.size();
    }
  }

  @JCStressTest
  @Description("Two threads put into the last place.")
  @Outcome(id = {"true, false", "false, true"}, expect = Expect.ACCEPTABLE, desc = "one of the two succeeds")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both, or none")
  @State
  public static class LastPlace {
    private final Shard<Integer> shard = new Shard<>(1);

    @Actor
    public void one(ZZ_Result r) {
      r.r1 = shard.offer(1);
    }

    @Actor
    public void other(ZZ_Result r) {
      r.r2 = shard.offer(2);
    }
  }

  @JCStressTest
  @Description("A handler becomes idle during a put: it finds the call, or is woken.")
  @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the handler has the call")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the handler sleeps although there is a call")
  @State
  public static class Rest {
    /** Much longer than any step here. */
    private static final long SLEEPS_NS = TimeUnit.SECONDS.toNanos(2);

    private final AtomicInteger calls = new AtomicInteger();
    private final IdleHandlers handlers = new IdleHandlers(() -> calls.get() > 0);

    private boolean takes() {
      int there = calls.get();
      return there > 0 && calls.compareAndSet(there, there - 1);
    }

    @Actor
    public void puts() {
      calls.getAndIncrement();
      handlers.call();
    }

    /** Takes a call as {@code pollUntil} of the queue does. */
    @Actor
    public void handles(II_Result r) {
      long end = System.nanoTime() + SLEEPS_NS;
      handlers.search();
      while (!takes()) {
        IdleHandlers.Idle self = handlers.rest();
        while (self != null && self.isWaiting()) {
          if (System.nanoTime() - end > 0) {
            return;
          }
          LockSupport.parkNanos(end - System.nanoTime());
        }
      }
      handlers.endSearch();
      r.r1 = 1;
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = calls.get();
    }
  }
}
