package org.yunti.namenode.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.FairCallQueue;
import org.apache.hadoop.ipc.RpcMultiplexer;
import org.apache.hadoop.ipc.Schedulable;
import org.apache.hadoop.ipc.WeightedRoundRobinMultiplexer;
import org.apache.hadoop.security.UserGroupInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Call queue like {@link FairCallQueue}, with shards in each level: {@code ipc.PORT.callqueue.impl}. Scheduler,
 * back-off, overflow between levels, metrics and {@code -refreshCallQueue} work as in stock's queue.
 *
 * <p>Calls of one reader thread in one level keep their order. A call of another reader may overtake, by at most the
 * calls of a shard. Each handler has its own multiplexer over the levels, with the same weights.
 *
 * <p>It is a {@code FairCallQueue} by type, so that the MXBean and the server's fail-over work on it. The inherited
 * queues are small and always full: a call without a place gets its exception from stock's code, whose constructors are
 * not accessible here.
 */
public final class ShardedCallQueue<E extends Schedulable> extends FairCallQueue<E> {
  /**
   * Key of the shards of a level, after the prefix: {@code ipc.8020.yunti.callqueue.shards}. Default: the processors.
   */
  public static final String SHARDS_KEY = "yunti.callqueue.shards";

  private static final Logger LOG = LoggerFactory.getLogger(ShardedCallQueue.class);
  private static final int SHARDS_MAX = 1024;
  private static final long NEVER = WaitingPutters.NEVER;

  private final List<Level<E>> levels;
  private final ThreadLocal<Taker> takers;
  private final IdleHandlers idle = new IdleHandlers(() -> !isEmpty());
  private final WaitingPutters putters = new WaitingPutters();

  /** State of a handler: its multiplexer, and the level and shard to try next. */
  private static final class Taker {
    final RpcMultiplexer multiplexer;
    int level;
    int shard = (int) Thread.currentThread().getId();

    Taker(RpcMultiplexer multiplexer) {
      this.multiplexer = multiplexer;
      level = multiplexer.getAndAdvanceCurrentIndex();
    }

    void advance() {
      level = multiplexer.getAndAdvanceCurrentIndex();
      shard++;
    }
  }

  /**
   * Creates the queue, as {@code CallQueueManager} does by reflection.
   *
   * @param capacity places of all levels together
   * @throws IllegalArgumentException with the key of a wrong setting and its valid values
   */
  public ShardedCallQueue(
      int priorityLevels,
      int capacity,
      String ns,
      int[] capacityWeights,
      boolean serverFailOverEnabled,
      Configuration conf) {
    super(priorityLevels, sum(capacityWeights), ns, capacityWeights, serverFailOverEnabled, conf);
    fillInherited(priorityLevels);
    int shards = shards(ns, conf);
    int weights = sum(capacityWeights);
    List<Level<E>> made = new ArrayList<>();
    for (int number = 0; number < priorityLevels; number++) {
      // The first level gets the remainder of the weights, as in stock. With fewer places than weights the last
      // levels get them, since calls without a place go to a lower level.
      int rest = number == 0 ? capacity % weights : 0;
      int few = number >= priorityLevels - capacity ? 1 : 0;
      made.add(new Level<>(
          capacity >= weights
              ? capacity / weights * capacityWeights[number] + rest
              : few + Math.max(0, rest - priorityLevels),
          shards));
    }
    takers = ThreadLocal.withInitial(() -> new Taker(new WeightedRoundRobinMultiplexer(priorityLevels, ns, conf)));
    levels = made;
    LOG.info("ShardedCallQueue has {} levels with a total capacity of {}, and {} shards a level; the capacity of {} that "
            + "FairCallQueue logs is only the inherited, unused queues'",
        priorityLevels, capacity, shards, sum(capacityWeights));
  }

  private static int sum(int[] weights) {
    int sum = 0;
    for (int weight : weights) {
      sum += weight;
    }
    return sum;
  }

  /** Placeholder of a call in the inherited queues. */
  private record Filler(int getPriorityLevel) implements Schedulable {
    @Override
    public UserGroupInformation getUserGroupInformation() {
      return null;
    }
  }

  @SuppressWarnings("unchecked")
  private void fillInherited(int priorityLevels) {
    for (int level = 0; level < priorityLevels; level++) {
      E filler = (E) new Filler(level);
      while (super.offer(filler)) {
        // Repeat until the level is full.
      }
    }
  }

  private static int shards(String ns, Configuration conf) {
    String key = ns + "." + SHARDS_KEY;
    int processors = Math.min(Runtime.getRuntime().availableProcessors(), SHARDS_MAX);
    String value = conf.getTrimmed(key, String.valueOf(processors));
    try {
      int shards = Integer.parseInt(value);
      if (shards >= 1 && shards <= SHARDS_MAX) {
        return shards;
      }
    } catch (NumberFormatException e) {
      // The exception below reports it.
    }
    throw new IllegalArgumentException(key + " is '" + value + "'; give a number from 1 to " + SHARDS_MAX);
  }

  // ---- put ----

  /** Puts a call into its level or a lower one, up to {@code last}. Returns false if all are full. */
  private boolean offerFrom(int priority, int last, E call) {
    for (int number = priority; number <= last; number++) {
      if (levels.get(number).offer(call)) {
        idle.call();
        return true;
      }
      levels.get(number).overflowed();
    }
    return false;
  }

  @Override
  public boolean add(E call) {
    int last = levels.size() - 1;
    int priority = call.getPriorityLevel();
    if (offerFrom(priority, last, call)) {
      return true;
    }
    return super.add(call);
  }

  @Override
  public void put(E call) throws InterruptedException {
    int last = levels.size() - 1;
    if (!offerFrom(call.getPriorityLevel(), last - 1, call)) {
      putInto(levels.get(last), call, NEVER);
    }
  }

  @Override
  public boolean offer(E call) {
    boolean isIn = levels.get(call.getPriorityLevel()).offer(call);
    if (isIn) {
      idle.call();
    }
    return isIn;
  }

  @Override
  public boolean offer(E call, long timeout, TimeUnit unit) throws InterruptedException {
    return putInto(levels.get(call.getPriorityLevel()), call, after(timeout, unit));
  }

  /** Puts a call into a level. Returns false once the deadline is over. */
  private boolean putInto(Level<E> level, E call, long deadline) throws InterruptedException {
    if (!putters.put(level, call, deadline)) {
      return false;
    }
    idle.call();
    return true;
  }

  private static long after(long timeout, TimeUnit unit) {
    return System.nanoTime() + Math.min(unit.toNanos(timeout), Long.MAX_VALUE / 4);
  }

  // ---- take ----

  @Override
  public E poll() {
    Taker taker = takers.get();
    E call = levels.get(taker.level).poll(taker.shard);
    for (int number = 0; call == null && number < levels.size(); number++) {
      call = levels.get(number).poll(taker.shard);
    }
    if (call != null) {
      taker.advance();
      putters.call();
    }
    return call;
  }

  @Override
  public E take() throws InterruptedException {
    return pollUntil(NEVER);
  }

  @Override
  public E poll(long timeout, TimeUnit unit) throws InterruptedException {
    return pollUntil(after(timeout, unit));
  }

  private E pollUntil(long deadline) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    E call = poll();
    if (call != null) {
      return call;
    }
    idle.search();
    while (true) {
      call = poll();
      if (call != null) {
        idle.endSearch();
        return call;
      }
      IdleHandlers.Idle self = idle.rest();
      if (self == null) {
        // A put is under way.
        Thread.yield();
        continue;
      }
      boolean isOver = false;
      while (self.isWaiting() && !isOver && !Thread.currentThread().isInterrupted()) {
        isOver = !parkUntil(deadline);
      }
      if (!isOver && !Thread.currentThread().isInterrupted()) {
        continue;
      }
      if (!idle.leave(self)) {
        // It was also called, for a call that this or another handler takes.
        call = Thread.currentThread().isInterrupted() ? null : poll();
        idle.endSearch();
      }
      if (call == null && Thread.interrupted()) {
        throw new InterruptedException();
      }
      return call;
    }
  }

  /** Parks; may return early. Returns false once the deadline is over. */
  private boolean parkUntil(long deadline) {
    if (deadline == NEVER) {
      LockSupport.park(this);
      return true;
    }
    long left = deadline - System.nanoTime();
    if (left > 0) {
      LockSupport.parkNanos(this, left);
    }
    return left > 0;
  }

  @Override
  public int drainTo(Collection<? super E> calls, int max) {
    int drained = 0;
    for (E call = max > 0 ? poll() : null; call != null; call = drained < max ? poll() : null) {
      calls.add(call);
      drained++;
    }
    return drained;
  }

  // ---- state ----

  @Override
  public E peek() {
    for (Level<E> level : levels) {
      E call = level.peek();
      if (call != null) {
        return call;
      }
    }
    return null;
  }

  @Override
  public int size() {
    int sum = 0;
    for (Level<E> level : levels) {
      sum += level.size();
    }
    return sum;
  }

  @Override
  public int remainingCapacity() {
    int sum = 0;
    for (Level<E> level : levels) {
      sum += level.capacity() - level.size();
    }
    return sum;
  }

  /** Returns the calls of each level; none before the constructor has run, when metrics may already call this. */
  @Override
  public int[] getQueueSizes() {
    return levels == null ? new int[0] : levels.stream().mapToInt(Level::size).toArray();
  }

  @Override
  public long[] getOverflowedCalls() {
    return levels == null ? new long[0] : levels.stream().mapToLong(Level::overflows).toArray();
  }
}
