package org.yunti.observe.trace.calls;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Records of one thread. They have one owner at a time; when the owner has ended, another thread may claim it.
 *
 * <pre>
 *   chunk    length in words (low half), bytes of the name, highest bit: virtual thread | own number | name | records
 * </pre>
 *
 * Only the thread itself uses this object, except at the end of the trace. It calls no JDK method that may be traced,
 * unless it is busy: calls of a busy thread are not recorded.
 */
abstract class PerThread {
  private static final AtomicReferenceFieldUpdater<PerThread, Thread> THREAD =
      AtomicReferenceFieldUpdater.newUpdater(PerThread.class, Thread.class, "thread");
  private static final AtomicLong NUMBERS = new AtomicLong();

  final MemoryBudget budget;
  /** The owner; null if it is free. */
  volatile Thread thread;
  /** The agent's own number of the thread, because subclasses may override thread IDs with duplicates. */
  private long number = NUMBERS.incrementAndGet();
  boolean isVirtual;
  private boolean isNamed;
  boolean isBusy;
  long[] words;
  int used;
  int records;
  /** Lost records of all threads that have owned this object. */
  long lost;

  PerThread(Thread thread, MemoryBudget budget, int words) {
    this.thread = thread;
    this.budget = budget;
    this.isVirtual = Threads.isVirtual(thread);
    this.words = new long[words];
  }

  final boolean isOf(Thread other) {
    return thread == other;
  }

  final boolean claim(Thread by) {
    if (thread != null || !THREAD.compareAndSet(this, null, by)) {
      return false;
    }
    number = NUMBERS.incrementAndGet();
    isVirtual = Threads.isVirtual(by);
    isNamed = false;
    begin(by);
    return true;
  }

  /** Frees the object if its thread has ended, within a call or not. */
  final void leaveIfDead(Ring ring) {
    Thread owner = thread;
    if (owner != null && !owner.isAlive()) {
      sendRest(ring);
      used = records = 0;
      forget();
      isBusy = false;
      thread = null;
    }
  }

  /** Learns about the thread that has claimed this object. */
  void begin(Thread thread) {}

  /** Sends the records of a thread that has ended, if they say something. */
  void sendRest(Ring ring) {
    lost += records;
  }

  /** Forgets what is under way in a thread that has ended. */
  abstract void forget();

  /** Frees the object of a thread that records nothing now, if it would be one of very many. */
  void leaveIfIdle() {}

  /** Returns the thread's name in its first chunk. */
  abstract byte[] title();

  final long lost() {
    return lost;
  }

  final boolean isBusy() {
    return isBusy;
  }

  final void setBusy(boolean is) {
    isBusy = is;
  }

  /** Makes room for more words. Returns false beyond a limit, or without memory for it. */
  final boolean widen(int by, int wordsMax) {
    int more = words.length;
    while (more < used + by) {
      more *= 2;
    }
    if (more > wordsMax || !budget.take((more - words.length) * 8L)) {
      return false;
    }
    long[] wider = new long[more];
    System.arraycopy(words, 0, wider, 0, used);
    words = wider;
    return true;
  }

  /** Sends the records to the ring. Returns false if it has no space for them. */
  final boolean offer(Ring ring) {
    byte[] name = isNamed ? new byte[0] : title();
    long[] head = head(name);
    boolean isTaken = ring.offer(first(name, 1 + head.length + used), head, head.length, words, used);
    isNamed |= isTaken;
    return isTaken;
  }

  /** Returns a chunk of the unsent records, with room for further words. */
  final long[] chunk(int further) {
    byte[] name = title();
    long[] head = head(name);
    long[] chunk = new long[1 + head.length + used + further];
    chunk[0] = first(name, chunk.length);
    System.arraycopy(head, 0, chunk, 1, head.length);
    System.arraycopy(words, 0, chunk, 1 + head.length, used);
    return chunk;
  }

  final byte[] name() {
    Thread owner = thread;
    String name = owner == null ? "" : owner.getName();
    return (isVirtual && name.isEmpty() ? "virtual-" + owner.getId() : name).getBytes(StandardCharsets.UTF_8);
  }

  private long first(byte[] name, int length) {
    return (isVirtual ? Long.MIN_VALUE : 0) | (long) name.length << 32 | length;
  }

  private long[] head(byte[] name) {
    long[] head = new long[1 + (name.length + 7) / 8];
    head[0] = number;
    pack(name, 0, head, 1);
    return head;
  }

  /** Packs bytes into words that are zero, the first byte highest. */
  static void pack(byte[] bytes, int offset, long[] words, int from) {
    for (int i = 0; i < bytes.length; i++) {
      int at = offset + i;
      words[from + at / 8] |= (bytes[i] & 0xffL) << (7 - at % 8) * 8;
    }
  }
}
