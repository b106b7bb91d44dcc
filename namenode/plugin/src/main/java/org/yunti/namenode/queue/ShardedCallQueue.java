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

/**
 * A {@link FairCallQueue} whose levels have shards: {@code ipc.PORT.callqueue.impl}. Scheduler, back-off, overflow from level to level, metrics and
 * {@code -refreshCallQueue} are those of stock's queue.
 *
 * <p>Calls of one reader thread and one level are taken in the order in which they came; of two readers, one may be taken before another that came earlier, by
 * as many as fit into a shard. Each handler chooses among the levels by weights of its own, which are the same for all.
 *
 * <p>It is a {@code FairCallQueue} by type, so that its MXBean and the server's fail-over tell of this one. The queues that it inherits are small, and full
 * from the beginning: who has no place here is told so by stock's own code, whose exceptions nobody else can make.
 */
public final class ShardedCallQueue<E extends Schedulable> extends FairCallQueue<E> {
  /** Behind the name space: {@code ipc.8020.yunti.callqueue.shards}. Shards of a level; if nothing is said, one for each processor. */
  public static final String SHARDS_KEY = "yunti.callqueue.shards";

  private static final int SHARDS_MAX = 1024;
  private static final long NEVER = WaitingPutters.NEVER;

  private final List<Level<E>> levels;
  private final ThreadLocal<Taker> takers;
  private final IdleHandlers idle = new IdleHandlers(() -> !isEmpty());
  private final WaitingPutters putters = new WaitingPutters();

  /** What a handler knows. */
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
   * As {@code CallQueueManager} makes it.
   *
   * @param capacity of all levels together
   */
  public ShardedCallQueue(int priorityLevels, int capacity, String ns, int[] capacityWeights, boolean serverFailOverEnabled, Configuration conf) {
    super(priorityLevels, sum(capacityWeights), ns, capacityWeights, serverFailOverEnabled, conf);
    fillInherited(priorityLevels);
    int shards = shards(ns, conf);
    int weights = sum(capacityWeights);
    List<Level<E>> made = new ArrayList<>();
    for (int number = 0; number < priorityLevels; number++) {
      // What the weights leave over is the first level's, as in stock. Where there are fewer places than weights, it is the last levels that have them:
      // calls without a place go to a lower level.
      int rest = number == 0 ? capacity % weights : 0;
      int few = number >= priorityLevels - capacity ? 1 : 0;
      made.add(new Level<>(
          capacity >= weights ? capacity / weights * capacityWeights[number] + rest : few + Math.max(0, rest - priorityLevels), shards));
    }
    takers = ThreadLocal.withInitial(() -> new Taker(new WeightedRoundRobinMultiplexer(priorityLevels, ns, conf)));
    levels = made;
  }

  private static int sum(int[] weights) {
    int sum = 0;
    for (int weight : weights) {
      sum += weight;
    }
    return sum;
  }

  /** Takes the place of a call. */
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
        // Once more.
      }
    }
  }

  private static int shards(String ns, Configuration conf) {
    String key = ns + "." + SHARDS_KEY;
    String said = conf.getTrimmed(key, String.valueOf(Math.min(Runtime.getRuntime().availableProcessors(), SHARDS_MAX)));
    try {
      int shards = Integer.parseInt(said);
      if (shards >= 1 && shards <= SHARDS_MAX) {
        return shards;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(key + " is '" + said + "'; give a number from 1 to " + SHARDS_MAX);
  }

  // ---- to put ----

  /** False: it is full, and so are the levels below, up to a last one. */
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

  /** False: the time is over. */
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

  // ---- to take ----

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
        // Somebody is just putting.
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
        // It was called as well: for what is there, itself or another.
        call = Thread.currentThread().isInterrupted() ? null : poll();
        idle.endSearch();
      }
      if (call == null && Thread.interrupted()) {
        throw new InterruptedException();
      }
      return call;
    }
  }

  /** False: it is over. */
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

  // ---- what there is ----

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

  /** Metrics may ask before this is made. */
  @Override
  public int[] getQueueSizes() {
    return levels == null ? new int[0] : levels.stream().mapToInt(Level::size).toArray();
  }

  @Override
  public long[] getOverflowedCalls() {
    return levels == null ? new long[0] : levels.stream().mapToLong(Level::overflows).toArray();
  }
}
