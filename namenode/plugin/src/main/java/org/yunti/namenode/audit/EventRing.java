package org.yunti.namenode.audit;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A bounded queue of many that put and one that takes, without a lock.
 *
 * <pre>
 *        taken           written, not taken        claimed, being written
 *   .. . . . . . | e e e e e e e e e e e e e e | e . e e | . . . ..
 *                ^ head                                  ^ tail: an increment of one place by compare-and-set
 * </pre>
 *
 * <p>Who puts claims a place and then writes it; who takes waits for the place to be written. Rejected: {@code ArrayBlockingQueue}, whose one lock all
 * handlers would share again, and JCTools, which would be another jar on an operator's class path.
 */
final class EventRing {
  private final AtomicReferenceArray<AuditEvent> places;
  private final int mask;
  private final AtomicLong tail = new AtomicLong();
  /** Written by the one that takes. */
  private final AtomicLong head = new AtomicLong();

  /**
   * @param size a power of two
   */
  EventRing(int size) {
    places = new AtomicReferenceArray<>(size);
    mask = size - 1;
  }

  /** False: it is full. */
  boolean offer(AuditEvent event) {
    long place;
    do {
      place = tail.get();
      if (place - head.get() > mask) {
        return false;
      }
    } while (!tail.compareAndSet(place, place + 1));
    places.setRelease((int) place & mask, event);
    return true;
  }

  /** Of one thread at a time. Null: there is none, or the next is just being written. */
  AuditEvent poll() {
    long place = head.get();
    AuditEvent event = places.getAcquire((int) place & mask);
    if (event == null) {
      return null;
    }
    places.setPlain((int) place & mask, null);
    // After the place is empty: who claims it next must not find the old event, or its own be emptied.
    head.setRelease(place + 1);
    return event;
  }

  /** How many places were ever claimed. */
  long claimed() {
    return tail.get();
  }

  /**
   * As {@link #poll}, and waits for an event whose place is claimed and not written yet: it hides those behind it.
   *
   * @param claimed places that are waited for; later ones are taken if they are written
   * @param deadlineNanos when it gives up: a thread that has claimed may never run again
   */
  AuditEvent pollClaimed(long claimed, long deadlineNanos) {
    AuditEvent event = poll();
    while (event == null && head.get() < claimed && System.nanoTime() - deadlineNanos < 0) {
      Thread.yield();
      event = poll();
    }
    return event;
  }

  /** Those that were put, or are about to be. */
  int size() {
    return (int) Math.max(0, tail.get() - head.get());
  }

  int capacity() {
    return mask + 1;
  }
}
