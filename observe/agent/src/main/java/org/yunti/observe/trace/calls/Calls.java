package org.yunti.observe.trace.calls;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What changed methods call, through {@link org.yunti.observe.trace.code.Hook}: calls that begin and end, on any thread, anywhere. Nothing is thrown from
 * here, and nobody waits.
 */
public final class Calls {
  /** Numbers of methods are counted from it; what is not within is another look's. */
  private int base;
  private final boolean withTexts;
  final long overNanos;
  private final long callsMax;
  private final Threads threads = new Threads();
  final Ring ring = new Ring();
  /** Calls that may still be told; a second's worth at most. */
  private final AtomicLong allowed;
  private final AtomicLong homeless = new AtomicLong();
  private long breathed = System.nanoTime();
  private long swept = breathed;

  public Calls(boolean withTexts, long overNanos, long callsMax) {
    this.withTexts = withTexts;
    this.overNanos = overNanos;
    this.callsMax = callsMax;
    this.allowed = new AtomicLong(callsMax);
  }

  public void setBase(int base) {
    this.base = base;
  }

  /**
   * Before any method is changed, all that is here has been called once by the thread of the look: the first call of some things of the JDK makes classes,
   * by methods that may be traced. From here on that thread is not seen.
   */
  public void warmUp() {
    ThreadCalls mine = threads.findOrMake();
    for (Object result : new Object[] {null, new int[1], "", List.of(), new Object()}) {
      enter(0);
      exit(0);
      enter(new Object[] {result}, 0);
      exit(result, 0);
      enter(0);
      thrown(new IllegalStateException(), 0);
    }
    mine.warmUp();
    hush(hush());
    ring.take();
    allowed.set(callsMax);
    mine.setBusy(true);
  }

  /** From here on calls of this thread are not seen: it is at work for us. What it returns is given to the other one. */
  public boolean hush() {
    ThreadCalls mine = threads.findOrMake();
    boolean wasBusy = mine != null && mine.isBusy();
    if (mine != null) {
      mine.setBusy(true);
    }
    return wasBusy;
  }

  public void hush(boolean wasBusy) {
    ThreadCalls mine = threads.find();
    if (mine != null) {
      mine.setBusy(wasBusy);
      mine.leaveIfIdle();
    }
  }

  // ---- from changed methods ----

  public void enter(int id) {
    begin(id, null);
  }

  public void enter(Object arguments, int id) {
    begin(id, (Object[]) arguments);
  }

  public void exit(int id) {
    end(id, System.nanoTime(), 0, this);
  }

  public void exit(Object value, int id) {
    end(id, System.nanoTime(), 0, value);
  }

  public void thrown(Object error, int id) {
    end(id, System.nanoTime(), ThreadCalls.HAS_THROWN, error);
  }

  private void begin(int id, Object[] arguments) {
    int method = id - base;
    if (method < 0 || method >= ThreadCalls.METHODS) {
      return;
    }
    try {
      ThreadCalls mine = threads.findOrMake();
      if (mine == null) {
        homeless.incrementAndGet();
      } else if (!mine.isBusy()) {
        mine.enter(method, arguments == null ? null : text(mine, arguments, true));
      }
    } catch (Throwable e) {
      // No memory, or no stack: the call is not seen.
    }
  }

  /** @param value this: there is none */
  private void end(int id, long now, int flags, Object value) {
    int method = id - base;
    if (method < 0 || method >= ThreadCalls.METHODS) {
      return;
    }
    try {
      ThreadCalls mine = threads.find();
      if (mine != null && !mine.isBusy()) {
        String result = !withTexts ? null : value == this ? "" : text(mine, value, false);
        mine.exit(this, method, now, flags, result);
      }
    } catch (Throwable e) {
      // As above.
    }
  }

  /** Code of the target runs here: calls that it makes are not seen. */
  private String text(ThreadCalls mine, Object value, boolean isArguments) {
    if (allowed.getPlain() <= 0) {
      return "";
    }
    mine.setBusy(true);
    try {
      return isArguments ? Texts.ofAll((Object[]) value) : Texts.of(value);
    } finally {
      mine.setBusy(false);
    }
  }

  boolean allows(int calls) {
    if (allowed.get() <= 0) {
      return false;
    }
    // A tree is told whole or not at all, if need be on account of later ones.
    allowed.addAndGet(-calls);
    return true;
  }

  // ---- from the thread of the look ----

  /** Time goes on: more calls may be told; threads that have ended are forgotten. */
  public void breathe() {
    long now = System.nanoTime();
    long more = Math.min(callsMax, (long) ((now - breathed) * 1e-9 * callsMax));
    if (more > 0) {
      breathed = now;
      long before = allowed.get();
      allowed.addAndGet(Math.min(more, callsMax - before));
    }
    if (now - swept > 1_000_000_000L) {
      swept = now;
      threads.forEach(ThreadCalls::leaveIfDead);
    }
  }

  /** Chunks that have come, one behind the other. */
  public long[] take() {
    return ring.take();
  }

  /** Called with chunks: where they begin and end in an array. */
  public interface Chunk {
    void accept(long[] words, int from, int to);
  }

  public static void chunks(long[] words, Chunk each) {
    for (int from = 0; from < words.length; ) {
      int to = from + (int) (words[from] & Ring.LENGTH);
      each.accept(words, from, to);
      from = to;
    }
  }

  public void running(Chunk each) {
    long now = System.nanoTime();
    threads.forEach(it -> {
      long[] chunk = it.running(now, overNanos);
      if (chunk != null) {
        each.accept(chunk, 0, chunk.length);
      }
    });
  }

  public long lost() {
    long[] sum = {homeless.get()};
    threads.forEach(it -> sum[0] += it.lost());
    return sum[0];
  }
}
