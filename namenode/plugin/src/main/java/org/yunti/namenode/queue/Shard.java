package org.yunti.namenode.queue;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Shard of a level: a bounded FIFO queue. */
final class Shard<E> {
  private final ConcurrentLinkedQueue<E> elements = new ConcurrentLinkedQueue<>();
  /** Number of calls, including puts under way: at most the capacity, and 0 only without any. */
  private final AtomicInteger count = new AtomicInteger();
  private final int capacity;

  Shard(int capacity) {
    this.capacity = capacity;
  }

  /** Puts a call. Returns false if the shard is full. */
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
    // Most shards are empty most of the time, and a read keeps the cache line shared.
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
