import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Locks with known wait times, which the program measures and prints itself. It prints `ready`, then runs each line of
 * its input and answers with one line of JSON. The names of locks need --add-opens
 * java.base/java.util.concurrent.locks=ALL-UNNAMED, and the same for the parent package.
 */
public final class Locks {
  /** A lock that one thread holds while others wait for it. The holder is in `hold`. */
  abstract static class Kind {
    /** The object that the observer names by class and identity. */
    abstract Object named();

    abstract void hold(Runnable work);

    /** Takes and releases the lock, as the n-th waiter. */
    void take(int n) {
      hold(() -> {});
    }
  }

  static final class Monitor extends Kind {
    private final Object lock;

    Monitor(Object lock) {
      this.lock = lock;
    }

    @Override
    Object named() {
      return lock;
    }

    @Override
    void hold(Runnable work) {
      synchronized (lock) {
        work.run();
      }
    }
  }

  static class Explicit extends Kind {
    final Lock lock;

    Explicit(Lock lock) {
      this.lock = lock;
    }

    @Override
    Object named() {
      return field(lock, "sync");
    }

    @Override
    void hold(Runnable work) {
      lock.lock();
      try {
        work.run();
      } finally {
        lock.unlock();
      }
    }
  }

  static final class Fair extends Explicit {
    private final long spinNanos;

    Fair() {
      this(0);
    }

    Fair(long spinNanos) {
      super(new ReentrantLock(true));
      this.spinNanos = spinNanos;
    }

    @Override
    void take(int n) {
      hold(() -> {
        long end = System.nanoTime() + spinNanos;
        while (System.nanoTime() < end) {
          Thread.onSpinWait();
        }
      });
    }

    @Override
    void hold(Runnable work) {
      super.hold(work);
    }
  }

  /** A writer holds it; the first waiter reads, the others write. */
  static final class ReadWrite extends Kind {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    @Override
    Object named() {
      return field(lock, "sync");
    }

    @Override
    void hold(Runnable work) {
      lock.writeLock().lock();
      try {
        work.run();
      } finally {
        lock.writeLock().unlock();
      }
    }

    @Override
    void take(int n) {
      Lock wanted = n == 0 ? lock.readLock() : lock.writeLock();
      wanted.lock();
      wanted.unlock();
    }
  }

  static final class Permits extends Kind {
    private final Semaphore semaphore = new Semaphore(1, true);

    @Override
    Object named() {
      return field(semaphore, "sync");
    }

    @Override
    void hold(Runnable work) {
      semaphore.acquireUninterruptibly();
      try {
        work.run();
      } finally {
        semaphore.release();
      }
    }
  }

  static final class Stamped extends Kind {
    private final StampedLock lock = new StampedLock();

    @Override
    Object named() {
      return lock;
    }

    @Override
    void hold(Runnable work) {
      long stamp = lock.writeLock();
      try {
        work.run();
      } finally {
        lock.unlockWrite(stamp);
      }
    }
  }

  static Object field(Object of, String name) {
    try {
      Field field = of.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A waiting thread, with its wait time by its own clock. */
  static final class Waiter {
    /** Name in the observer's answer. */
    volatile String thread;
    volatile long totalNs;
    volatile int waits;

    Waiter(String thread) {
      this.thread = thread;
    }

    void take(Kind kind, int n) {
      long begin = System.nanoTime();
      kind.take(n);
      totalNs += System.nanoTime() - begin;
      waits++;
    }
  }

  /** Rounds: the holder takes the lock, the waiters arrive, the holder keeps it for some milliseconds. */
  static final class Contention {
    private final String name;
    private final Kind kind;
    private final int rounds;
    private final long holdMillis;
    private final List<Waiter> waiters = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile int round;
    private final AtomicInteger coming = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final boolean isVirtual;
    private String holder;

    Contention(String name, Kind kind, int waiterCount, int rounds, long holdMillis) {
      this(name, kind, waiterCount, rounds, holdMillis, false);
    }

    Contention(String name, Kind kind, int waiterCount, int rounds, long holdMillis, boolean isVirtual) {
      this.isVirtual = isVirtual;
      this.name = name;
      this.kind = kind;
      this.rounds = rounds;
      this.holdMillis = holdMillis;
      for (int i = 0; i < waiterCount; i++) {
        waiters.add(new Waiter(name + "-waiter-" + i));
      }
    }

    void start() {
      for (int i = 0; i < waiters.size(); i++) {
        int n = i;
        Thread thread = thread(waiters.get(n).thread, () -> wait(waiters.get(n), n));
        waiters.get(n).thread = called(thread);
        threads.add(thread);
      }
      Thread thread = thread(name + "-holder", this::hold);
      holder = called(thread);
      threads.add(thread);
      threads.forEach(Thread::start);
    }

    private Thread thread(String name, Runnable work) {
      return isVirtual ? virtualThread(name, work) : new Thread(work, name);
    }

    private String called(Thread thread) {
      return isVirtual ? "virtual thread #" + thread.getId() + " " + thread.getName() : thread.getName();
    }

    void join() throws InterruptedException {
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private void wait(Waiter waiter, int n) {
      for (int reached = 1; reached <= rounds; reached++) {
        while (round < reached) {
          sleep(1 + waiters.size() / 10);
        }
        coming.incrementAndGet();
        waiter.take(kind, n);
        done.incrementAndGet();
      }
    }

    private void hold() {
      for (int next = 1; next <= rounds; next++) {
        int all = next * waiters.size();
        int now = next;
        kind.hold(() -> {
          round = now;
          while (coming.get() < all) {
            sleep(1);
          }
          sleep(holdMillis);
        });
        while (done.get() < all) {
          sleep(1);
        }
      }
    }

    String json() {
      StringBuilder text = new StringBuilder("{\"lock\": \"" + Locks.name(kind) + "\", \"name\": \"" + name
          + "\", \"holder\": \"" + holder
          + "\", \"method\": \"" + kind.getClass().getName() + ".hold\", \"threads\": {");
      String separator = "";
      for (Waiter waiter : waiters) {
        text.append(separator).append('"').append(waiter.thread).append("\": [").append(waiter.waits).append(", ")
            .append(waiter.totalNs).append(']');
        separator = ", ";
      }
      return text.append("}}").toString();
    }
  }

  static String name(Kind kind) {
    return kind.named().getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(kind.named()));
  }

  private static String contend(List<Contention> all, boolean collects) throws InterruptedException {
    all.forEach(Contention::start);
    if (collects) {
      for (int i = 0; i < 3; i++) {
        sleep(100);
        System.gc();
      }
    }
    List<String> answers = new ArrayList<>();
    for (Contention contention : all) {
      contention.join();
      answers.add(contention.json());
    }
    return "{\"locks\": [" + String.join(", ", answers) + "]}";
  }

  /** Threads that wait for work, results and time, but for no lock. */
  private static void idle() {
    ReentrantLock lock = new ReentrantLock();
    Condition condition = lock.newCondition();
    LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();
    FutureTask<Object> result = new FutureTask<>(() -> null);
    CountDownLatch latch = new CountDownLatch(1);
    Object monitor = new Object();
    daemon("condition", () -> {
      lock.lock();
      while (true) {
        condition.await(50, java.util.concurrent.TimeUnit.MILLISECONDS);
      }
    });
    daemon("queue", () -> {
      while (true) {
        queue.poll(50, java.util.concurrent.TimeUnit.MILLISECONDS);
      }
    });
    daemon("latch", latch::await);
    daemon("result", result::get);
    daemon("monitor", () -> {
      synchronized (monitor) {
        while (true) {
          monitor.wait(50);
        }
      }
    });
  }

  interface Work {
    void run() throws Exception;
  }

  private static Thread daemon(String name, Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** A lock that one thread holds until a command releases it; another thread waits for it. */
  private static final class Stuck {
    private final Kind kind;
    private final String name;
    private volatile boolean lets;
    private final boolean isVirtual;
    private Waiter waiter;
    private volatile long beganNs;

    Stuck(String name, Kind kind, boolean isVirtual) {
      this.name = name;
      this.kind = kind;
      this.isVirtual = isVirtual;
    }

    private void start(String name, Runnable work) {
      if (isVirtual) {
        virtualThread(name, work).start();
      } else {
        daemon(name, work::run);
      }
    }

    String begin() {
      lets = false;
      start(name + "-holder", () -> kind.hold(() -> {
        while (!lets) {
          sleep(1);
        }
      }));
      sleep(50);
      waiter = new Waiter(name + "-waiter");
      beganNs = System.nanoTime();
      start(waiter.thread, () -> waiter.take(kind, 0));
      sleep(50);
      return "{\"lock\": \"" + Locks.name(kind) + "\", \"name\": \"" + name + "\", \"began_ns\": " + beganNs + "}";
    }

    String end() {
      lets = true;
      while (waiter.waits == 0) {
        sleep(1);
      }
      return "{\"lock\": \"" + Locks.name(kind) + "\", \"name\": \"" + name + "\", \"ended_ns\": "
          + System.nanoTime() + "}";
    }
  }

  /** Four threads that contend for one lock all the time, and hold it for some microseconds. */
  private static String hurry(long millis) throws InterruptedException {
    Kind kind = new Fair(10_000);
    long end = System.nanoTime() + millis * 1_000_000;
    List<Waiter> waiters = List.of(new Waiter("hurry-0"), new Waiter("hurry-1"), new Waiter("hurry-2"),
        new Waiter("hurry-3"));
    List<Thread> threads = new ArrayList<>();
    for (Waiter waiter : waiters) {
      threads.add(daemon(waiter.thread, () -> {
        while (System.nanoTime() < end) {
          waiter.take(kind, 0);
        }
      }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return "{\"lock\": \"" + name(kind) + "\", \"taken\": " + waiters.stream().mapToInt(w -> w.waits).sum()
        + ", \"total_ns\": "
        + waiters.stream().mapToLong(w -> w.totalNs).sum() + "}";
  }

  /** Returns an unstarted virtual thread. Needs a JDK with virtual threads. */
  private static Thread virtualThread(String name, Runnable work) {
    try {
      Class<?> builder = Class.forName("java.lang.Thread$Builder");
      Object named = builder.getMethod("name", String.class)
          .invoke(Thread.class.getMethod("ofVirtual").invoke(null), name);
      return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(named, work);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A wait that pins a virtual thread to its carrier: in a class initialiser. */
  static final class Pinning extends Explicit {
    Pinning() {
      super(new ReentrantLock());
    }

    @Override
    void take(int n) {
      Initialised.lock = this;
      Initialised.touch();
    }

    static final class Initialised {
      private static Pinning lock;

      static void touch() {
        Within.touch();
      }

      static final class Within {
        static {
          lock.hold(() -> {});
        }

        static void touch() {}
      }
    }
  }

  /** Virtual threads that hand one lock on for some time. Returns how often they did. */
  private static String pass(int count, long millis) throws InterruptedException {
    Kind kind = new Explicit(new ReentrantLock());
    Kind monitor = new Monitor(new StringBuilder());
    long end = System.nanoTime() + millis * 1_000_000;
    java.util.concurrent.atomic.LongAdder taken = new java.util.concurrent.atomic.LongAdder();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Kind wanted = i % 2 == 0 ? kind : monitor;
      threads.add(virtualThread("", () -> {
        while (System.nanoTime() < end) {
          wanted.hold(Thread::yield);
          taken.increment();
        }
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    return "{\"taken\": " + taken.sum() + "}";
  }

  public static void main(String[] args) throws Exception {
    Stuck monitor = new Stuck("stuck-monitor", new Monitor(new int[1]), false);
    Stuck lock = new Stuck("stuck-lock", new Fair(), false);
    Stuck virtualMonitor = new Stuck("stuck-monitor", new Monitor(new int[1]), true);
    Stuck virtualLock = new Stuck("stuck-lock", new Fair(), true);
    Kind staying = new Monitor(new Object());
    System.out.println("ready");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      System.out.println(switch (words[0]) {
        case "kinds" -> contend(List.of(
            new Contention("monitor", new Monitor(new ArrayList<>()), 2, 20, 12),
            new Contention("class", new Monitor(Locks.class), 2, 20, 12),
            new Contention("fair", new Fair(), 2, 20, 12),
            new Contention("unfair", new Explicit(new ReentrantLock()), 2, 20, 12),
            new Contention("read-write", new ReadWrite(), 2, 20, 12),
            new Contention("permits", new Permits(), 2, 20, 12),
            new Contention("stamped", new Stamped(), 2, 20, 12)), true);
        case "one" -> contend(List.of(new Contention("one", staying, 2, 10, 15)), false);
        case "many" -> contend(List.of(new Contention("many", new Monitor(new StringBuilder()), 1000, 2, 300),
            new Contention("many-fair", new Fair(), 200, 2, 300)), false);
        case "idle" -> {
          idle();
          yield "{}";
        }
        case "idle-virtual" -> {
          LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();
          virtualThread("idle", () -> {
            while (true) {
              try {
                queue.poll(50, java.util.concurrent.TimeUnit.MILLISECONDS);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }
          }).start();
          yield "{}";
        }
        case "stick" -> "[" + monitor.begin() + ", " + lock.begin() + "]";
        case "unstick" -> "[" + monitor.end() + ", " + lock.end() + "]";
        case "stick-virtual" -> "[" + virtualMonitor.begin() + ", " + virtualLock.begin() + "]";
        case "unstick-virtual" -> "[" + virtualMonitor.end() + ", " + virtualLock.end() + "]";
        case "hurry" -> hurry(Long.parseLong(words[1]));
        case "virtual" -> contend(List.of(
            new Contention("monitor", new Monitor(new ArrayList<>()), 2, 20, 12, true),
            new Contention("fair", new Fair(), 2, 20, 12, true),
            new Contention("unfair", new Explicit(new ReentrantLock()), 2, 20, 12, true),
            new Contention("read-write", new ReadWrite(), 2, 20, 12, true),
            new Contention("permits", new Permits(), 2, 20, 12, true),
            new Contention("stamped", new Stamped(), 2, 20, 12, true)), true);
        case "pinned" -> contend(List.of(new Contention("pinned", new Pinning(), 1, 1, 60, true)), false);
        case "many-virtual" -> contend(List.of(new Contention("many", new Monitor(new StringBuilder()), 4000, 1,
            500, true),
            new Contention("many-fair", new Fair(), 4000, 1, 500, true)), false);
        case "pass" -> pass(Integer.parseInt(words[1]), Long.parseLong(words[2]));
        case "exit" -> {
          System.exit(0);
          yield "";
        }
        default -> throw new IOException(line);
      });
    }
  }
}
