package org.yunti.messages.capture;

import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjIntConsumer;

/**
 * Samples messages in threads of the service. Each target has its part of the captures, spread over the time: after a
 * share of the time, the same share is allowed. A random number of calls is passed over before each, because the first
 * call after a pause is often of one kind. All other calls cost one read of the clock.
 */
final class Captures implements ObjIntConsumer<Object> {
  /** Captures of a target that may follow one another at once. */
  private static final int BURST = 2;
  /** Parts of the captures: a target has one of them at first, and at most half of all. */
  private static final int PARTS = 4;
  /** Classes of messages at most whose first message is captured in any case. */
  private static final int CLASSES_MAX = 64;
  private static final int TRIES_MAX = 16;
  /** Calls passed over at most. */
  private static final int SKIP_MAX = 64;
  private static final int FRAMES_MAX = 400;
  /** Tries one after another that meet calls inside another serialiser, before the target has a pause. */
  private static final int NESTED_MAX = 256;
  private static final long PAUSE_NANOS = 5_000_000;

  /**
   * A captured message.
   *
   * @param isFirst true for the first of its class, which is captured in any case; else it is there by chance
   * @param tree null if it is refused
   */
  record Message(int target, boolean isFirst, String type, Object tree, long bytes, Set<String> gaps, String refusal) {}

  private final Instrumentation instrumentation;
  private final Redactor redactor;
  private final int countMax;
  private final long nanosMax;
  private final long begun = System.nanoTime();
  private final AtomicInteger taken = new AtomicInteger();
  private final Gate[] gates = new Gate[Targets.ALL.size()];
  private final ConcurrentLinkedQueue<Message> messages = new ConcurrentLinkedQueue<>();
  private final StackWalker frames = StackWalker.getInstance();

  Captures(Instrumentation instrumentation, Redactor redactor, int countMax, long nanosMax) {
    this.instrumentation = instrumentation;
    this.redactor = redactor;
    this.countMax = countMax;
    this.nanosMax = nanosMax;
    for (int i = 0; i < gates.length; i++) {
      gates[i] = new Gate(begun);
    }
  }

  /** Calls of one target, and when the next one is captured. */
  private static final class Gate {
    final LongAdder calls = new LongAdder();
    final AtomicLong next;
    final AtomicInteger skip = new AtomicInteger();
    final AtomicInteger taken = new AtomicInteger();
    final AtomicInteger nested = new AtomicInteger();
    /** Tries by class of the message, until one is captured. */
    final ConcurrentHashMap<Class<?>, AtomicInteger> classes = new ConcurrentHashMap<>();
    volatile long callsBefore;

    Gate(long begun) {
      next = new AtomicLong(begun);
    }

    /** Returns true for a class that is not captured yet. It has some tries, because a try may be a nested call. */
    boolean isNew(Class<?> type) {
      AtomicInteger tries = classes.get(type);
      if (tries == null) {
        return classes.size() < CLASSES_MAX && classes.putIfAbsent(type, new AtomicInteger(1)) == null;
      }
      return tries.get() < TRIES_MAX && tries.incrementAndGet() <= TRIES_MAX;
    }

    void setKnown(Class<?> type) {
      AtomicInteger tries = classes.get(type);
      if (tries != null) {
        tries.set(TRIES_MAX);
      }
    }

    /** Sets when the next message is captured, after a capture by chance. */
    void pass(long begun, long interval) {
      int count = taken.incrementAndGet();
      long all = calls.sum();
      skip.set(ThreadLocalRandom.current().nextInt(1 + (int) Math.min(SKIP_MAX, all - callsBefore)));
      callsBefore = all;
      next.set(begun + Math.max(0, count - BURST) * interval);
    }
  }

  /** Loads all classes that a capture needs, before a thread of the service does. */
  void warmUp() {
    isOutermost();
    capture(new Object[] {List.of(1, "a", java.time.Instant.EPOCH), null}, 2, true);
    messages.clear();
  }

  @Override
  public void accept(Object parts, int target) {
    long now = System.nanoTime();
    Gate gate = gates[target];
    gate.calls.increment();
    Object message = ((Object[]) parts)[Targets.ALL.get(target).isWrite() ? 1 : 0];
    if (message == null || taken.get() >= countMax || gate.taken.get() * 2 >= countMax) {
      return;
    }
    boolean isNew = gate.isNew(message.getClass());
    long due = gate.next.get();
    if (!isNew && (now - due < 0 || gate.skip.getAndDecrement() > 0
        || !gate.next.compareAndSet(due, now + PAUSE_NANOS))) {
      return;
    }
    try {
      if (!isOutermost()) {
        // The outer call ends soon. It is tried then, or large messages would never be captured.
        if (!isNew && gate.nested.incrementAndGet() % NESTED_MAX != 0) {
          gate.next.set(due);
        }
        return;
      }
      gate.setKnown(message.getClass());
      taken.incrementAndGet();
      if (!isNew) {
        gate.pass(begun, nanosMax / Math.max(1, countMax / PARTS));
      }
      capture((Object[]) parts, target, isNew);
    } catch (Throwable e) {
      // A capture must not harm the service's call. A StackOverflowError may come here.
    }
  }

  /** Returns true unless the hooked method was called by a serialiser. */
  private boolean isOutermost() {
    return frames.walk(stream -> {
      var it = stream.limit(FRAMES_MAX).iterator();
      boolean isInHooked = false;
      while (it.hasNext()) {
        boolean isSerialiser = Targets.isSerialiser(it.next().getClassName());
        if (isSerialiser && isInHooked) {
          return false;
        }
        isInHooked |= isSerialiser;
      }
      return true;
    });
  }

  private void capture(Object[] parts, int target, boolean isFirst) {
    boolean isWrite = Targets.ALL.get(target).isWrite();
    Object message = isWrite ? parts[1] : parts[0];
    long bytes = length(isWrite ? parts[0] : parts[1]);
    Walker walker = new Walker(instrumentation, redactor);
    String type = Types.name(message);
    try {
      messages.add(new Message(target, isFirst, type, walker.walk(message), bytes, walker.gaps(), null));
    } catch (Walker.Refusal e) {
      messages.add(new Message(target, isFirst, type, null, bytes, Set.of(), e.getMessage()));
    }
  }

  /** Returns the length of bytes or of a text in UTF-8; -1 for something else. */
  private static long length(Object bytes) {
    if (bytes instanceof byte[] array) {
      return array.length;
    }
    return bytes instanceof String text ? text.getBytes(StandardCharsets.UTF_8).length : -1;
  }

  /** Returns the messages since the last call. */
  List<Message> take() {
    List<Message> all = new ArrayList<>();
    for (Message each; (each = messages.poll()) != null; ) {
      all.add(each);
    }
    return all;
  }

  boolean isComplete() {
    return taken.get() >= countMax;
  }

  /** Returns the calls of a target that were not inside another serialiser, as far as the samples show. */
  long calls(int target) {
    Gate gate = gates[target];
    double tried = gate.taken.get() + gate.nested.get();
    return tried == 0 ? 0 : Math.round(gate.calls.sum() * gate.taken.get() / tried);
  }
}
