package org.yunti.namenode.queue;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A part of a level: first in, first out, bounded. */
final class Shard<E> {
  private final ConcurrentLinkedQueue<E> elements = new ConcurrentLinkedQueue<>();
  /** Also of those that are just being put: never more than there may be, and 0 only where nothing comes. */
  private final AtomicInteger count = new AtomicInteger();
  private final int capacity;

  Shard(int capacity) {
    this.capacity = capacity;
  }

  /** False: it is full. */
  boolean offer(E element) {
    int before;
    do {
      before = count.get();
      if (before >= capacity) {
        return false;
      }
    } while (!count.compareAndSet(before, before + 1));
    elements.add(element);
    return true;
  }

  E poll() {
    // Most shards are empty most of the time, and a read does not take their lines from others.
    if (count.get() == 0) {
      return null;
    }
    E element = elements.poll();
    if (element != null) {
      count.getAndDecrement();
    }
    return element;
  }

  E peek() {
    return elements.peek();
  }

  int size() {
    return count.get();
  }

  int capacity() {
    return capacity;
  }
}
