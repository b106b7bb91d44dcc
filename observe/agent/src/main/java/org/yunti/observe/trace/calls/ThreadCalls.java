package org.yunti.observe.trace.calls;

import java.nio.charset.StandardCharsets;

/**
 * Calls of one thread: the ones that are running, and records of the ones that ended within a running outermost call.
 *
 * <pre>
 *   record   words (16 bits), flags (8), depth (16), method (24) | begin | duration
 *            [| bytes of the arguments, of the result | both texts]
 * </pre>
 *
 * Texts are padded to whole words. A call is recorded when it ends, so callees come before their caller.
 */
final class ThreadCalls extends PerThread {
  static final int METHODS = 1 << 24;
  static final int HAS_THROWN = 1;
  static final int IS_RUNNING = 2;
  static final int HAS_TEXTS = 4;
  private static final int DEPTH_MAX = 4096;
  private static final int WORDS_MAX = 1 << 14;
  private static final int RECORD = 3;

  private int[] methods = new int[16];
  private long[] begins = new long[16];
  private String[] arguments;
  private int depth;
  /** Running calls beyond the maximum depth. */
  private int beyond;

  ThreadCalls(Thread thread, MemoryBudget budget) {
    super(thread, budget, 8 * RECORD);
  }

  @Override
  void forget() {
    depth = beyond = 0;
  }

  @Override
  byte[] title() {
    return name();
  }

  /** Frees the object if its virtual thread is in no call, because there may be millions of virtual threads. */
  @Override
  void leaveIfIdle() {
    if (isVirtual && depth == 0 && !isBusy) {
      thread = null;
    }
  }

  /** Calls the methods that {@link Calls#warmUp} has not reached. */
  void warmUp() {
    ThreadCalls other = new ThreadCalls(thread, budget);
    other.leaveIfDead(null);
    other.leaveIfIdle();
    other.thread = null;
    other.claim(thread);
  }

  void enter(int method, String text) {
    int at = depth;
    if (at == methods.length && !deepen()) {
      beyond++;
      lost++;
      return;
    }
    if (text != null) {
      if (arguments == null || arguments.length < methods.length) {
        String[] wider = new String[methods.length];
        if (arguments != null) {
          System.arraycopy(arguments, 0, wider, 0, arguments.length);
        }
        arguments = wider;
      }
      arguments[at] = text;
    }
    methods[at] = method;
    begins[at] = System.nanoTime();
    depth = at + 1;
  }

  /**
   * Ends a call.
   *
   * @param end time of the end
   * @param result text of the result; null if texts are not reported
   */
  void exit(Calls calls, int method, long end, int flags, String result) {
    if (beyond > 0) {
      beyond--;
      return;
    }
    // The innermost call, unless ends of inner calls were missed.
    int at = depth - 1;
    while (at >= 0 && methods[at] != method) {
      at--;
    }
    if (at < 0) {
      return;
    }
    depth = at;
    long outermost = end - begins[0];
    boolean isReported = outermost >= calls.overNanos;
    if (result == null) {
      add(calls, isReported, RECORD, method, at, end - begins[at], flags);
    } else {
      addWithTexts(calls, isReported, method, at, end - begins[at], flags, result);
    }
    if (at == 0) {
      if (isReported) {
        flush(calls);
      }
      used = records = 0;
      leaveIfIdle();
    }
  }

  private void addWithTexts(Calls calls, boolean isReported, int method, int at, long nanos, int flags, String result) {
    isBusy = true;
    try {
      String before = arguments == null || arguments[at] == null ? "" : arguments[at];
      byte[] first = before.getBytes(StandardCharsets.UTF_8);
      byte[] second = result.getBytes(StandardCharsets.UTF_8);
      int length = RECORD + 1 + (first.length + second.length + 7) / 8;
      int record = add(calls, isReported, length, method, at, nanos, flags | HAS_TEXTS);
      if (record >= 0) {
        words[record + RECORD] = (long) first.length << 32 | second.length;
        pack(first, 0, words, record + RECORD + 1);
        pack(second, first.length, words, record + RECORD + 1);
      }
      if (arguments != null) {
        arguments[at] = null;
      }
    } finally {
      isBusy = false;
    }
  }

  /** Adds a record. Returns its index, or -1 if there is no space. */
  private int add(Calls calls, boolean isReported, int length, int method, int at, long nanos, int flags) {
    if (used + length > words.length && !widen(length, WORDS_MAX)) {
      if (isReported) {
        flush(calls);
        used = records = 0;
      }
      if (used + length > words.length) {
        lost++;
        return -1;
      }
    }
    int record = used;
    words[record] = (long) length << 48 | (long) flags << 40 | (long) at << 24 | method;
    words[record + 1] = begins[at];
    words[record + 2] = nanos;
    for (int i = RECORD; i < length; i++) {
      words[record + i] = 0;
    }
    used = record + length;
    records++;
    return record;
  }

  private boolean deepen() {
    int more = methods.length * 2;
    if (more > DEPTH_MAX || !budget.take(methods.length * 16L)) {
      return false;
    }
    int[] deeper = new int[more];
    long[] longer = new long[more];
    System.arraycopy(methods, 0, deeper, 0, depth);
    System.arraycopy(begins, 0, longer, 0, depth);
    methods = deeper;
    begins = longer;
    return true;
  }

  private void flush(Calls calls) {
    if (records == 0) {
      return;
    }
    isBusy = true;
    try {
      if (!calls.allows(records) || !offer(calls.ring)) {
        lost += records;
      }
    } finally {
      isBusy = false;
    }
  }

  /** Returns a chunk of unsent records and running calls; null if there are none. Call it when recording has ended. */
  long[] running(long now, long overNanos) {
    int deep = depth;
    if (thread == null || deep == 0 || now - begins[0] < overNanos) {
      return null;
    }
    long[] chunk = chunk(deep * RECORD);
    int at = chunk.length - deep * RECORD;
    for (int i = deep - 1; i >= 0; i--, at += RECORD) {
      chunk[at] = (long) RECORD << 48 | (long) IS_RUNNING << 40 | (long) i << 24 | methods[i];
      chunk[at + 1] = begins[i];
      chunk[at + 2] = now - begins[i];
    }
    return chunk;
  }
}
