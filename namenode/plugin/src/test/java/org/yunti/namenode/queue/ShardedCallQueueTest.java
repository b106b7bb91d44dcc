package org.yunti.namenode.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.CallQueueManager;
import org.apache.hadoop.ipc.DefaultRpcScheduler;
import org.apache.hadoop.ipc.FairCallQueue;
import org.apache.hadoop.ipc.Schedulable;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ShardedCallQueueTest {
  private record Call(int number, int level) implements Schedulable {
    @Override
    public UserGroupInformation getUserGroupInformation() {
      return null;
    }

    @Override
    public int getPriorityLevel() {
      return level;
    }
  }

  private static final AtomicLong NAME_SPACES = new AtomicLong();

  private static ShardedCallQueue<Call> queue(int levels, int capacity, int shards) {
    return queue(levels, capacity, shards, false, weights(levels));
  }

  private static int[] weights(int levels) {
    int[] weights = new int[levels];
    java.util.Arrays.fill(weights, 1);
    return weights;
  }

  private static ShardedCallQueue<Call> queue(int levels, int capacity, int shards, boolean isFailOver, int[] weights) {
    String ns = "test." + NAME_SPACES.getAndIncrement();
    Configuration conf = new Configuration(false);
    conf.setInt(ns + "." + ShardedCallQueue.SHARDS_KEY, shards);
    return new ShardedCallQueue<>(levels, capacity, ns, weights, isFailOver, conf);
  }

  private static String tried(java.util.concurrent.Callable<Object> action) {
    try {
      return String.valueOf(action.call());
    } catch (Exception e) {
      return e.toString();
    }
  }

  /** With one thread it behaves like stock's queue: the same calls in the same order, the same exceptions. */
  @Test
  void behavesLikeStockForOneThread() {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      int levels = random.nextInt(4) + 1;
      int[] weights = random.ints(levels, 1, 4).toArray();
      int capacity = java.util.Arrays.stream(weights).sum() + random.nextInt(20);
      boolean isFailOver = random.nextBoolean();
      FairCallQueue<Call> stock = new FairCallQueue<>(
          levels, capacity, "stock." + NAME_SPACES.getAndIncrement(), weights, isFailOver, new Configuration(false));
      ShardedCallQueue<Call> ours = queue(levels, capacity, 1, isFailOver, weights);
      for (int step = 0; step < 300; step++) {
        Call call = new Call(step, random.nextInt(levels));
        int what = random.nextInt(8);
        String expected = "";
        String got = "";
        switch (what) {
          case 0, 1 -> {
            expected = tried(() -> stock.add(call));
            got = tried(() -> ours.add(call));
          }
          case 2 -> {
            expected = tried(() -> stock.offer(call));
            got = tried(() -> ours.offer(call));
          }
          case 3 -> {
            expected = tried(() -> stock.offer(call, 1, TimeUnit.MICROSECONDS));
            got = tried(() -> ours.offer(call, 1, TimeUnit.MICROSECONDS));
          }
          case 4, 5 -> {
            expected = tried(stock::poll);
            got = tried(ours::poll);
          }
          case 6 -> {
            expected = tried(() -> stock.poll(1, TimeUnit.MICROSECONDS));
            got = tried(() -> ours.poll(1, TimeUnit.MICROSECONDS));
          }
          default -> {
            if (random.nextInt(10) == 0) {
              int max = random.nextInt(4);
              List<Call> one = new ArrayList<>();
              List<Call> other = new ArrayList<>();
              stock.drainTo(one, max);
              ours.drainTo(other, max);
              assertEquals(one.size(), other.size());
              // Stock drains level by level, ours in the order of handlers: the rest differs from here on.
              stock.drainTo(one);
              ours.drainTo(other);
              assertEquals(new java.util.HashSet<>(one), new java.util.HashSet<>(other));
              step = 300;
            }
          }
        }
        assertEquals(expected, got, "seed " + seed + ", step " + step + ", " + what);
        assertEquals(stock.size(), ours.size());
        assertEquals(stock.isEmpty(), ours.isEmpty());
        assertEquals(stock.remainingCapacity(), ours.remainingCapacity());
        assertEquals(tried(stock::peek), tried(ours::peek));
        assertEquals(java.util.Arrays.toString(stock.getQueueSizes()), java.util.Arrays.toString(ours.getQueueSizes()));
        assertEquals(java.util.Arrays.toString(stock.getOverflowedCalls()),
            java.util.Arrays.toString(ours.getOverflowedCalls()));
      }
    }
  }

  @Test
  void holdsItsCapacity() {
    for (int shards : new int[] {1, 3, 64}) {
      ShardedCallQueue<Call> queue = queue(2, 21, shards);
      int held = 0;
      while (queue.offer(new Call(held, 0))) {
        held++;
      }
      assertEquals(11, held);
      assertEquals(10, queue.remainingCapacity());
      assertEquals(11, queue.size());
    }
  }

  /** Waiting threads are woken, and each call is taken exactly once. */
  @Test
  void deliversEachCallOnce() throws Exception {
    for (int shards : new int[] {1, 2, 7}) {
      for (int capacity : new int[] {4, 1000}) {
        many(queue(2, capacity, shards), 4, 8, 8_000);
      }
    }
  }

  private static void many(BlockingQueue<Call> queue, int readers, int handlers, int each) throws Exception {
    AtomicIntegerArray taken = new AtomicIntegerArray(readers * each);
    AtomicLong left = new AtomicLong((long) readers * each);
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int reader = 0; reader < readers; reader++) {
      int first = reader * each;
      threads.add(new Thread(() -> {
        try {
          for (int number = first; number < first + each; number++) {
            queue.put(new Call(number, number % 2));
            if (number % 1000 == 0) {
              // Let handlers become idle.
              Thread.sleep(1);
            }
          }
        } catch (InterruptedException e) {
          failures.add(e);
        }
      }));
    }
    for (int handler = 0; handler < handlers; handler++) {
      threads.add(new Thread(() -> {
        try {
          while (left.get() > 0) {
            // A long timeout, so that a lost wake-up shows; the last polls end by their timeout.
            Call call = queue.poll(left.get() > 100 ? 20_000 : 20, TimeUnit.MILLISECONDS);
            if (call != null) {
              taken.incrementAndGet(call.number());
              left.decrementAndGet();
            }
          }
        } catch (InterruptedException e) {
          if (left.get() > 0) {
            failures.add(e);
          }
        }
      }));
    }
    long begin = System.nanoTime();
    threads.forEach(Thread::start);
    while (left.get() > 0 && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(15)) {
      Thread.sleep(1);
    }
    assertEquals(0, left.get(), "handlers sleep although there are calls");
    threads.forEach(Thread::interrupt);
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    for (int number = 0; number < taken.length(); number++) {
      assertEquals(1, taken.get(number));
    }
    assertTrue(queue.isEmpty());
    assertNull(queue.poll());
  }

  /** An interrupt or a timeout loses no call, and passes a wake-up on. */
  @Test
  void passesWakeUpsOn() throws Exception {
    ShardedCallQueue<Call> queue = queue(1, 1000, 2);
    AtomicLong taken = new AtomicLong();
    AtomicLong interrupts = new AtomicLong();
    Thread[] hasty = new Thread[4];
    java.util.concurrent.atomic.AtomicBoolean isOver = new java.util.concurrent.atomic.AtomicBoolean();
    for (int number = 0; number < hasty.length; number++) {
      hasty[number] = new Thread(() -> {
        while (!isOver.get()) {
          try {
            if (queue.poll(50, TimeUnit.MICROSECONDS) != null) {
              taken.incrementAndGet();
            }
          } catch (InterruptedException e) {
            interrupts.incrementAndGet();
          }
        }
      });
      hasty[number].start();
    }
    Thread patient = new Thread(() -> {
      try {
        while (true) {
          queue.take();
          taken.incrementAndGet();
        }
      } catch (InterruptedException e) {
        // The end.
      }
    });
    patient.start();
    Random random = new Random(1);
    for (int number = 0; number < 20_000; number++) {
      queue.put(new Call(number, 0));
      if (random.nextInt(10) == 0) {
        hasty[random.nextInt(hasty.length)].interrupt();
      }
    }
    long begin = System.nanoTime();
    while (taken.get() < 20_000 && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(10)) {
      Thread.sleep(1);
    }
    isOver.set(true);
    assertEquals(20_000, taken.get());
    assertTrue(interrupts.get() > 0);
    patient.interrupt();
    patient.join();
    for (Thread thread : hasty) {
      thread.join();
    }
  }

  @Test
  void waitsWhenFull() throws Exception {
    ShardedCallQueue<Call> queue = queue(1, 2, 1);
    queue.put(new Call(0, 0));
    queue.put(new Call(1, 0));
    assertFalse(queue.offer(new Call(2, 0), 20, TimeUnit.MILLISECONDS));
    Thread putting = new Thread(() -> {
      try {
        queue.put(new Call(3, 0));
      } catch (InterruptedException e) {
        // The checks below show it.
      }
    });
    putting.start();
    Thread.sleep(50);
    assertTrue(putting.isAlive());
    assertEquals(0, queue.take().number());
    putting.join();
    assertEquals(1, queue.take().number());
    assertEquals(3, queue.take().number());
    Thread interrupted = new Thread(() -> assertThrows(InterruptedException.class, queue::take));
    interrupted.start();
    interrupted.interrupt();
    interrupted.join();
  }

  /** A swap of queues, as by -refreshCallQueue, loses no call. */
  @Test
  @SuppressWarnings("unchecked")
  void isSwappedUnderLoad() throws Exception {
    String ns = "swap." + NAME_SPACES.getAndIncrement();
    Class<? extends BlockingQueue<Call>> sharded =
        (Class<? extends BlockingQueue<Call>>) (Class<?>) ShardedCallQueue.class;
    Class<? extends BlockingQueue<Call>> linked =
        (Class<? extends BlockingQueue<Call>>) (Class<?>) java.util.concurrent.LinkedBlockingQueue.class;
    Configuration conf = new Configuration(false);
    CallQueueManager<Call> manager = new CallQueueManager<>(sharded, DefaultRpcScheduler.class, false, 500, ns, conf);
    Thread swapping = new Thread(() -> {
      for (int number = 0; number < 20; number++) {
        manager.swapQueue(DefaultRpcScheduler.class, number % 2 == 0 ? linked : sharded, 500, ns, conf);
      }
    });
    swapping.start();
    int calls = 100_000;
    AtomicLong taken = new AtomicLong();
    Thread[] handlers = new Thread[6];
    for (int number = 0; number < handlers.length; number++) {
      handlers[number] = new Thread(() -> {
        try {
          while (true) {
            manager.take();
            taken.incrementAndGet();
          }
        } catch (InterruptedException e) {
          // The end.
        }
      });
      handlers[number].start();
    }
    for (int number = 0; number < calls; number++) {
      manager.put(new Call(number, 0));
    }
    swapping.join();
    long begin = System.nanoTime();
    while (taken.get() < calls && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(20)) {
      Thread.sleep(5);
    }
    assertEquals(calls, taken.get());
    for (Thread thread : handlers) {
      thread.interrupt();
      thread.join();
    }
  }

  @Test
  void servesStocksBean() throws Exception {
    String ns = "bean" + NAME_SPACES.getAndIncrement();
    ShardedCallQueue<Call> queue = new ShardedCallQueue<>(2, 10, ns, weights(2), false, new Configuration(false));
    queue.put(new Call(0, 1));
    ObjectName name = new ObjectName("Hadoop:service=" + ns + ",name=FairCallQueue");
    int[] sizes = (int[]) ManagementFactory.getPlatformMBeanServer().getAttribute(name, "QueueSizes");
    assertEquals("[0, 1]", java.util.Arrays.toString(sizes));
  }

  /** Any capacity works, as with stock's LinkedBlockingQueue: a server may have one handler and one place. */
  @Test
  void acceptsFewerPlacesThanWeights() throws Exception {
    int[] weights = {8, 4, 2, 1};
    for (int capacity = 1; capacity <= 20; capacity++) {
      ShardedCallQueue<Call> queue = queue(4, capacity, 2, false, weights);
      assertEquals(capacity, queue.remainingCapacity());
      for (int n = 0; n < capacity; n++) {
        queue.add(new Call(n, 0));
      }
      assertThrows(IllegalStateException.class, () -> queue.add(new Call(100, 0)));
      assertThrows(IllegalStateException.class, () -> queue.add(new Call(100, 3)));
      java.util.Set<Call> taken = new java.util.HashSet<>();
      for (int n = 0; n < capacity; n++) {
        taken.add(queue.poll());
      }
      assertEquals(capacity, taken.size());
      queue.put(new Call(7, 0));
      assertEquals(1, queue.size());
    }
  }

  @Test
  void refusesWrongSettings() {
    Configuration conf = new Configuration(false);
    conf.set("ns." + ShardedCallQueue.SHARDS_KEY, "many");
    String message = assertThrows(
        IllegalArgumentException.class, () -> new ShardedCallQueue<Call>(1, 10, "ns", weights(1), false, conf))
                      .getMessage();
    assertEquals("ns.yunti.callqueue.shards is 'many'; give a number from 1 to 1024", message);
  }
}
