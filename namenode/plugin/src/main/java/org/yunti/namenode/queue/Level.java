package org.yunti.namenode.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Calls of one priority, in shards. A thread puts into its own shard until that is full. */
final class Level<E> {
  private final List<Shard<E>> shards = new ArrayList<>();
  private final LongAdder overflows = new LongAdder();

  /**
   * Creates the shards.
   *
   * @param capacity places of all shards together
   * @param shardsWanted shards to create; fewer if a shard would have no place
   */
  Level(int capacity, int shardsWanted) {
    int count = Math.max(1, Math.min(capacity, shardsWanted));
    for (int number = 0; number < count; number++) {
      shards.add(new Shard<>(capacity / count + (number < capacity % count ? 1 : 0)));
    }
  }

  boolean offer(E element) {
    int own = (int) (Thread.currentThread().getId() % shards.size());
    for (int number = 0; number < shards.size(); number++) {
      if (shards.get((own + number) % shards.size()).offer(element)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes a call, or returns null.
   *
   * @param first shard to try first; a caller that increments it reaches all shards
   */
  E poll(int first) {
    for (int number = 0; number < shards.size(); number++) {
      E element = shards.get(Math.floorMod(first + number, shards.size())).poll();
      if (element != null) {
        return element;
      }
    }
    return null;
  }

  E peek() {
    for (Shard<E> shard : shards) {
      E element = shard.peek();
      if (element != null) {
        return element;
      }
    }
    return null;
  }

  int size() {
    int sum = 0;
    for (Shard<E> shard : shards) {
      sum += shard.size();
    }
    return sum;
  }

  int capacity() {
    return shards.stream().mapToInt(Shard::capacity).sum();
  }

  void overflowed() {
    overflows.increment();
  }

  long overflows() {
    return overflows.sum();
  }
}
