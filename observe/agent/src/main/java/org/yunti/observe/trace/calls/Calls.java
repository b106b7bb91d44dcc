package org.yunti.observe.trace.calls;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.yunti.observe.trace.objects.Texts;

/**
 * Recorder of calls. Changed methods call it through {@link org.yunti.observe.trace.code.Hook} when they begin and end,
 * on any thread. It throws nothing and never blocks.
 */
public final class Calls extends Recording<ThreadCalls> {
  private final boolean withTexts;
  final long overNanos;
  private final long callsMax;
  /** Calls that may still be reported, up to one second's worth. */
  private final AtomicLong allowed;
  private long tickedAt = System.nanoTime();

  public Calls(boolean withTexts, long overNanos, long callsMax) {
    super(new Threads.Maker<>() {
      @Override
      public ThreadCalls make(Thread thread, MemoryBudget budget) {
        return new ThreadCalls(thread, budget);
      }
    });
    this.withTexts = withTexts;
    this.overNanos = overNanos;
    this.callsMax = callsMax;
    this.allowed = new AtomicLong(callsMax);
  }

  /**
   * Calls everything here once, on the agent's thread, before any method is changed. The first call of some JDK methods
   * defines classes, by methods that may be traced. Calls of the agent's thread are not recorded from now on.
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
    setBusy(markBusy());
    ring.take();
    allowed.set(callsMax);
    mine.setBusy(true);
  }

  // ---- from changed methods ----

  @Override
  public void enter(int id) {
    begin(id, null);
  }

  @Override
  public void enter(Object arguments, int id) {
    begin(id, (Object[]) arguments);
  }

  @Override
  public void exit(int id) {
    end(id, System.nanoTime(), 0, this);
  }

  @Override
  public void exit(Object value, int id) {
    end(id, System.nanoTime(), 0, value);
  }

  @Override
  public void thrown(Object error, int id) {
    end(id, System.nanoTime(), ThreadCalls.HAS_THROWN, error);
  }

  private void begin(int id, Object[] arguments) {
    int method = number(id);
    if (method < 0 || method >= ThreadCalls.METHODS) {
      return;
    }
    try {
      ThreadCalls mine = threads.findOrMake();
      if (mine == null) {
        withoutPlace.incrementAndGet();
      } else if (!mine.isBusy()) {
        mine.enter(method, arguments == null ? null : text(mine, arguments, true));
      }
    } catch (Throwable e) {
      // Without memory or stack, the call is not recorded.
    }
  }

  /** @param value the result, or {@code this} for none */
  private void end(int id, long now, int flags, Object value) {
    int method = number(id);
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

  /** Returns a value as text. This runs the target's code, whose calls are not recorded. */
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
    // A tree is reported whole or not at all. It may use up the allowance of later ones.
    allowed.addAndGet(-calls);
    return true;
  }

  // ---- from the agent's thread ----

  /** Adds to the allowance for the time that has passed, and forgets threads that have ended. */
  public void tick() {
    long now = System.nanoTime();
    long more = Math.min(callsMax, (long) ((now - tickedAt) * 1e-9 * callsMax));
    if (more > 0) {
      tickedAt = now;
      long before = allowed.get();
      allowed.addAndGet(Math.min(more, callsMax - before));
    }
    sweep(now);
  }

  /** Receiver of chunks: an array, and a chunk's begin and end in it. */
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
}
