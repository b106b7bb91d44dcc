package org.yunti.observe.trace.calls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;

/**
 * Events of one thread, in their order.
 *
 * <pre>
 *   record   nanoTime        | number of the place (32 bits), identity of the object (32)
 *   then     allocated bytes | ALLOCATED (32), 0 (32)             of the thread, at the event before
 *   or       length          | TEXT (32), 0 (32) | bytes ..       of the event before, padded to whole records
 * </pre>
 */
final class ThreadEvents extends PerThread {
  /** Numbers of places that say more about the event before. */
  static final int ALLOCATED = 1 << 30;
  static final int TEXT = ALLOCATED + 1;
  /** Bytes of a text that fit into the initial buffer with its event. */
  static final int TEXT_MAX = 200;
  private static final int RECORD = 2;
  private static final int WORDS_MAX = 1 << 10;
  private static final Path SELF = Path.of("/proc/thread-self");

  /** Class of threads that run virtual threads; null before Java 21. What they do for them is no event. */
  private static final Class<?> CARRIER = carrier();

  boolean isCarrier;
  /** Pool of a worker; null for other threads. */
  ForkJoinPool pool;

  ThreadEvents(Thread thread, MemoryBudget budget) {
    super(thread, budget, 16 * RECORD);
    begin(thread);
  }

  private static Class<?> carrier() {
    try {
      return Class.forName("jdk.internal.misc.CarrierThread", false, null);
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  @Override
  void begin(Thread thread) {
    isCarrier = CARRIER != null && CARRIER.isInstance(thread);
    pool = thread instanceof ForkJoinWorkerThread worker ? worker.getPool() : null;
  }

  @Override
  void forget() {
    pool = null;
  }

  /** Returns the thread's name and its number in the JVM's PID namespace: {@code http-3|4711}. */
  @Override
  byte[] title() {
    String name = new String(name(), StandardCharsets.UTF_8);
    return (name + '|' + (Thread.currentThread() == thread && !isVirtual ? tid() : "")).getBytes(StandardCharsets.UTF_8);
  }

  private static String tid() {
    try {
      return Files.readSymbolicLink(SELF).getFileName().toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** Adds an event with a text. */
  void addText(Events events, long now, long what, byte[] text) {
    int length = (text.length + 15) / 16 * RECORD;
    if (used + 2 * RECORD + length > words.length && !widen(2 * RECORD + length, WORDS_MAX)) {
      flush(events.ring, true);
    }
    add(events, now, what);
    add(events, text.length, (long) TEXT << 32);
    for (int i = 0; i < length; i++) {
      words[used + i] = 0;
    }
    pack(text, 0, words, used);
    used += length;
  }

  void add(Events events, long now, long what) {
    if (used + RECORD > words.length && !widen(RECORD, WORDS_MAX)) {
      flush(events.ring, isBusy);
    }
    words[used] = now;
    words[used + 1] = what;
    used += RECORD;
    records++;
  }

  /** Sends the events so far. */
  void flush(Ring ring) {
    flush(ring, false);
  }

  private void flush(Ring ring, boolean wasBusy) {
    isBusy = true;
    try {
      if (records > 0 && !offer(ring)) {
        lost += records;
      }
    } catch (Throwable e) {
      lost += records;
    } finally {
      used = records = 0;
      isBusy = wasBusy;
    }
  }

  @Override
  void sendRest(Ring ring) {
    flush(ring);
  }

  /** Frees the object of a virtual thread, because there may be millions of them. */
  void leaveIfVirtual() {
    if (isVirtual && !isBusy) {
      thread = null;
    }
  }

  /** Returns a chunk of the unsent events; null if there are none. Call it when recording has ended. */
  long[] rest() {
    return thread == null || records == 0 ? null : chunk(0);
  }
}
