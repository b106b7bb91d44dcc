import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/** Three quarters of its time in one method, a quarter in another; an allocating thread; two threads that contend for a
 * lock. Hot SECONDS */
public final class Hot {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final ReentrantLock LOCK = new ReentrantLock();
  static volatile long sink;
  static volatile Object kept;

  static void spin(long nanos) {
    long end = THREADS.getCurrentThreadCpuTime() + nanos;
    while (THREADS.getCurrentThreadCpuTime() < end) {
      long x = sink;
      for (int i = 0; i < 20_000; i++) {
        x += x * 31 + i;
      }
      sink = x;
    }
  }

  static void costsThreeQuarters() {
    spin(1_000_000);
  }

  static void costsAQuarter() {
    spin(1_000_000);
  }

  static void allocates() {
    kept = new byte[100_000];
  }

  static void holdsTheLock() throws InterruptedException {
    LOCK.lock();
    try {
      Thread.sleep(20);
    } finally {
      LOCK.unlock();
    }
    Thread.sleep(1);
  }

  interface Work {
    void run() throws InterruptedException;
  }

  private static void start(String name, long end, Work work) {
    Thread thread = new Thread(() -> {
      try {
        while (System.nanoTime() < end) {
          work.run();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }, name);
    thread.start();
  }

  public static void main(String[] args) {
    long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    System.out.println("ready");
    // At random, because a fixed rhythm might match the sampling rate.
    Random random = new Random(1);
    start("busy", end, () -> {
      if (random.nextInt(4) < 3) {
        costsThreeQuarters();
      } else {
        costsAQuarter();
      }
    });
    start("allocator", end, () -> {
      allocates();
      Thread.sleep(1);
    });
    start("first", end, Hot::holdsTheLock);
    start("second", end, Hot::holdsTheLock);
  }
}
