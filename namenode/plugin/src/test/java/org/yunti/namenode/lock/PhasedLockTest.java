package org.yunti.namenode.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class PhasedLockTest {
  private final ExecutorService others = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    others.shutdownNow();
  }

  private <T> T elsewhere(Callable<T> task) throws Exception {
    return others.submit(task).get(20, TimeUnit.SECONDS);
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < end, "the condition was never true");
      Thread.sleep(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void admitsManyReadersOrOneWriter(Tuning.Preset preset) throws Exception {
    PhasedLock lock = new PhasedLock(preset);
    lock.readLock().lock();
    assertTrue(elsewhere(() -> lock.readLock().tryLock()));
    assertFalse(elsewhere(() -> lock.writeLock().tryLock()));
    assertFalse(elsewhere(() -> lock.writeLock().tryLock(10, TimeUnit.MILLISECONDS) ));
    lock.readLock().unlock();
    assertEquals(1, lock.getReadLockCount());
  }

  @ParameterizedTest
  @EnumSource
  void writersMayReenterAndRead(Tuning.Preset preset) throws Exception {
    PhasedLock lock = new PhasedLock(preset);
    lock.writeLock().lock();
    lock.writeLock().lock();
    lock.readLock().lock();
    lock.readLock().lock();
    assertEquals(List.of(2, 2, true),
        List.of(lock.getWriteHoldCount(), lock.getReadHoldCount(), lock.isWriteLockedByCurrentThread()));
    assertEquals(List.of(0, 0, false),
        elsewhere(
            () -> List.of(lock.getWriteHoldCount(), lock.getReadHoldCount(), lock.isWriteLockedByCurrentThread())));
    lock.writeLock().unlock();
    assertFalse(elsewhere(() -> lock.readLock().tryLock()));
    lock.writeLock().unlock();
    // The thread still reads, and others may read too.
    assertFalse(lock.isWriteLocked());
    assertTrue(elsewhere(() -> lock.readLock().tryLock()));
    assertFalse(elsewhere(() -> lock.writeLock().tryLock()));
    lock.readLock().unlock();
    lock.readLock().unlock();
    assertThrows(IllegalMonitorStateException.class, () -> lock.readLock().unlock());
    assertThrows(IllegalMonitorStateException.class, () -> lock.writeLock().unlock());
  }

  @ParameterizedTest
  @EnumSource
  void readersMayReenterWhileAWriterWaits(Tuning.Preset preset) throws Exception {
    PhasedLock lock = new PhasedLock(preset);
    lock.readLock().lock();
    Future<?> writer = others.submit(() -> {
      lock.writeLock().lock();
      lock.writeLock().unlock();
    });
    until(() -> !elsewhere(() -> {
      boolean isOpen = lock.readLock().tryLock();
      if (isOpen) {
        lock.readLock().unlock();
      }
      return isOpen;
    }));
    lock.readLock().lock();
    lock.readLock().unlock();
    lock.readLock().unlock();
    writer.get(20, TimeUnit.SECONDS);
    assertEquals(0, lock.waitingThreads());
  }

  @ParameterizedTest
  @EnumSource
  void waitersMayGiveUp(Tuning.Preset preset) throws Exception {
    PhasedLock lock = new PhasedLock(preset);
    lock.writeLock().lock();
    for (boolean isWrite : new boolean[] {false, true}) {
      assertFalse(elsewhere(() -> (isWrite ? lock.writeLock() : lock.readLock()).tryLock(20, TimeUnit.MILLISECONDS)));
      AtomicBoolean wasInterrupted = new AtomicBoolean();
      Thread thread = new Thread(() -> {
        try {
          (isWrite ? lock.writeLock() : lock.readLock()).lockInterruptibly();
        } catch (InterruptedException e) {
          wasInterrupted.set(true);
        }
      });
      thread.start();
      until(() -> lock.waitingThreads() == 1);
      thread.interrupt();
      thread.join(20_000);
      assertTrue(wasInterrupted.get());
      until(() -> lock.waitingThreads() == 0);
    }
    // An uninterruptible wait continues, and keeps the interrupt flag.
    AtomicBoolean isInterrupted = new AtomicBoolean();
    Thread thread = new Thread(() -> {
      lock.readLock().lock();
      isInterrupted.set(Thread.currentThread().isInterrupted());
      lock.readLock().unlock();
    });
    thread.start();
    until(() -> lock.waitingThreads() == 1);
    thread.interrupt();
    Thread.sleep(20);
    assertTrue(thread.isAlive());
    lock.writeLock().unlock();
    thread.join(20_000);
    assertTrue(isInterrupted.get());
    assertEquals(0, lock.getReadLockCount());
  }

  /** Writers change a counter and two words that must agree for readers, with all ways to enter and to give up. */
  @ParameterizedTest
  @EnumSource
  void writersAreAlone(Tuning.Preset preset) throws Exception {
    PhasedLock lock = new PhasedLock(preset);
    long[] words = new long[2];
    AtomicInteger inside = new AtomicInteger();
    AtomicLong written = new AtomicLong();
    AtomicBoolean isOver = new AtomicBoolean();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int seed = i;
      all.add(others.submit(() -> {
        Random random = new Random(seed);
        while (!isOver.get()) {
          int what = random.nextInt(10);
          if (what < 6) {
            if (what < 3) {
              lock.readLock().lock();
            } else if (!lock.readLock().tryLock(random.nextInt(200), TimeUnit.MICROSECONDS)) {
              continue;
            }
            assertTrue(inside.incrementAndGet() > 0, "a writer is inside");
            assertEquals(words[0], words[1]);
            if (what == 0) {
              lock.readLock().lock();
              lock.readLock().unlock();
            }
            inside.decrementAndGet();
            lock.readLock().unlock();
          } else {
            if (what < 8) {
              lock.writeLock().lock();
            } else if (!(what == 8 ? lock.writeLock().tryLock()
                                   : lock.writeLock().tryLock(random.nextInt(200), TimeUnit.MICROSECONDS))) {
              continue;
            }
            assertEquals(0, inside.getAndAdd(-1000), "another thread is inside");
            words[0]++;
            words[1]++;
            written.incrementAndGet();
            inside.addAndGet(1000);
            if (what == 7) {
              // Downgrade to a reader.
              lock.readLock().lock();
              lock.writeLock().unlock();
              inside.incrementAndGet();
              assertEquals(words[0], words[1]);
              inside.decrementAndGet();
              lock.readLock().unlock();
            } else {
              lock.writeLock().unlock();
            }
          }
        }
        return null;
      }));
    }
    Thread.sleep(3000);
    isOver.set(true);
    for (Future<?> one : all) {
      one.get(20, TimeUnit.SECONDS);
    }
    assertEquals(written.get(), words[0]);
    assertTrue(written.get() > 100, "writers entered: " + written);
    assertEquals(List.of(0, 0, false), List.of(lock.getReadLockCount(), lock.waitingThreads(), lock.isWriteLocked()));
    assertTrue(lock.writeLock().tryLock());
  }

  /** A steady stream of readers and one writer, and of writers and one reader: each gets its turn. */
  @ParameterizedTest
  @EnumSource
  void noThreadStarves(Tuning.Preset preset) throws Exception {
    for (boolean crowdWrites : new boolean[] {false, true}) {
      PhasedLock lock = new PhasedLock(preset);
      AtomicBoolean isOver = new AtomicBoolean();
      CountDownLatch begun = new CountDownLatch(8);
      List<Future<?>> crowd = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        crowd.add(others.submit(() -> {
          begun.countDown();
          while (!isOver.get()) {
            var own = crowdWrites ? lock.writeLock() : lock.readLock();
            own.lock();
            Thread.onSpinWait();
            own.unlock();
          }
        }));
      }
      begun.await();
      var own = crowdWrites ? lock.readLock() : lock.writeLock();
      for (int i = 0; i < 100; i++) {
        assertTrue(own.tryLock(10, TimeUnit.SECONDS), "turn " + i);
        own.unlock();
      }
      isOver.set(true);
      for (Future<?> one : crowd) {
        one.get(20, TimeUnit.SECONDS);
      }
    }
  }

  /**
   * A copy, such as Mockito's spies in Hadoop's own tests, is the same lock: the object has no mutable state itself.
   */
  @Test
  void aCopyIsTheSameLock() {
    for (java.lang.reflect.Field field : PhasedLock.class.getDeclaredFields()) {
      assertTrue(java.lang.reflect.Modifier.isFinal(field.getModifiers()), field.getName());
      assertTrue(
          java.lang.reflect.Modifier.isStatic(field.getModifiers()) || !field.getType().isPrimitive(), field.getName());
    }
  }
}
