package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicLong;

/** Recorder with a record for each thread, and a ring to which threads send what they have recorded. */
public abstract class Recording<T extends PerThread> implements Recorder {
  private static final long NANOS_PER_SWEEP = 1_000_000_000L;

  /** First number of this trace. Numbers outside its range belong to another trace. */
  private int base;
  final Threads<T> threads;
  final Ring ring = new Ring();
  final AtomicLong withoutPlace = new AtomicLong();
  private long sweptAt = System.nanoTime();

  Recording(Threads.Maker<T> maker) {
    this.threads = new Threads<>(maker);
  }

  @Override
  public final void setBase(int base) {
    this.base = base;
  }

  /** Returns the number of a method or place in this trace. */
  final int number(int id) {
    return id - base;
  }

  @Override
  public final boolean markBusy() {
    T mine = threads.findOrMake();
    boolean wasBusy = mine != null && mine.isBusy();
    if (mine != null) {
      mine.setBusy(true);
    }
    return wasBusy;
  }

  @Override
  public final void setBusy(boolean wasBusy) {
    T mine = threads.find();
    if (mine != null) {
      mine.setBusy(wasBusy);
      mine.leaveIfIdle();
    }
  }

  // ---- from the agent's thread ----

  /** Forgets threads that have ended, from time to time. */
  final void sweep(long now) {
    if (now - sweptAt > NANOS_PER_SWEEP) {
      sweptAt = now;
      threads.forEach(it -> it.leaveIfDead(ring));
    }
  }

  /** Takes the chunks from the ring, one after the other. */
  public final long[] take() {
    return ring.take();
  }

  public final long lost() {
    long[] sum = {withoutPlace.get()};
    threads.forEach(it -> sum[0] += it.lost());
    return sum[0];
  }
}
