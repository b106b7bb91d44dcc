package org.yunti.namenode.audit;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Bounded lock-free queue with many producers and one consumer.
 *
 * <pre>
 *        taken           written, not taken        claimed, being written
 *   .. . . . . . | e e e e e e e e e e e e e e | e . e e | . . . ..
 *                ^ head                                  ^ tail: an increment of one place by compare-and-set
 * </pre>
 *
 * <p>A producer claims a place and then writes it; the consumer waits for the place to be written. Rejected:
 * {@code ArrayBlockingQueue}, because all handlers would share its lock, and JCTools, because an operator would need
 * another jar.
 */
final class EventRing {
  private final AtomicReferenceArray<AuditEvent> places;
  private final int mask;
  private final AtomicLong tail = new AtomicLong();
  /** Next place to take; written by the consumer. */
  private final AtomicLong head = new AtomicLong();

  /**
   * @param size a power of two
   */
  EventRing(int size) {
    places = new AtomicReferenceArray<>(size);
    mask = size - 1;
  }

  /** Puts an event. Returns false if the ring is full. */
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

  /** Takes an event; one thread at a time. Returns null without an event, or while the next is being written. */
  AuditEvent poll() {
    long place = head.get();
    AuditEvent event = places.getAcquire((int) place & mask);
    if (event == null) {
      return null;
    }
    places.setPlain((int) place & mask, null);
    // The place is emptied first: the next producer must not find the old event, or lose its own.
    head.setRelease(place + 1);
    return event;
  }

  /** Returns the number of places claimed so far. */
  long claimed() {
    return tail.get();
  }

  /**
   * Takes an event, and waits while the next place is claimed and not written, since it hides the events behind it.
   *
   * @param claimed number of places to wait for; later events are taken if they are written
   * @param deadlineNanos end of the wait, since a thread with a claim may never run again
   */
  AuditEvent pollClaimed(long claimed, long deadlineNanos) {
    AuditEvent event = poll();
    while (event == null && head.get() < claimed && System.nanoTime() - deadlineNanos < 0) {
      Thread.yield();
      event = poll();
    }
    return event;
  }

  /** Returns the number of claimed places that are not taken. */
  int size() {
    return (int) Math.max(0, tail.get() - head.get());
  }

  int capacity() {
    return mask + 1;
  }
}
