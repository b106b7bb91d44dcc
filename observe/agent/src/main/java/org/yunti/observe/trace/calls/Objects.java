package org.yunti.observe.trace.calls;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Descriptions of the objects that events are about, one for each: class, size, and the callers at its first event.
 *
 * <pre>
 *   identity, number of the place, class, size or -1, callers from the innermost on; separated by '|'
 * </pre>
 */
public final class Objects {
  private static final int CAPACITY = 1 << 14;
  private static final int PROBES = 32;
  /** Objects that are described. Most programs have few locks and pools; some make a lock for each request. */
  private static final int OBJECTS_MAX = 2_000;
  private static final int SIZED_MAX = 200;
  private static final int CALLERS = 24;
  /** Methods without parameters that return how many can be taken at once, in libraries' pools. */
  private static final List<String> SIZES = List.of("availablePermits", "getDefaultMaxPerRoute",
      "getMaxThreads", "getMaximumPoolSize", "getMaxTotal", "getMaxActive", "getPoolSize", "size");
  /** Ways to the configuration of a pool. */
  private static final List<String> CONFIGURATIONS = List.of("config", "poolProperties", "pool");

  private final AtomicIntegerArray known = new AtomicIntegerArray(CAPACITY);
  private final AtomicInteger count = new AtomicInteger();
  private final Queue<String> news = new ConcurrentLinkedQueue<>();
  /** Pools whose free units are counted again and again. */
  private final Queue<Sized> sized = new ConcurrentLinkedQueue<>();
  private final AtomicInteger sizedCount = new AtomicInteger();

  private record Sized(int identity, WeakReference<Object> object) {}

  /** Returns true for an object that has no description yet, and for each once. */
  boolean isNew(int identity) {
    int at = identity * 0x9e3779b9 >>> 18;
    for (int i = 0; i < PROBES; i++) {
      int there = known.get(at + i & CAPACITY - 1);
      if (there == identity) {
        return false;
      }
      if (there == 0) {
        return count.get() < OBJECTS_MAX && known.compareAndSet(at + i & CAPACITY - 1, 0, identity)
            && count.incrementAndGet() <= OBJECTS_MAX;
      }
    }
    return false;
  }

  void add(Object object, int identity, int number) {
    StringBuilder text = new StringBuilder();
    text.append(identity).append('|').append(number).append('|');
    text.append(object instanceof Class<?> type ? "Class of " + type.getName() : object.getClass().getName());
    text.append('|').append(size(object));
    int callers = 0;
    for (StackTraceElement frame : new Throwable().getStackTrace()) {
      String name = frame.getClassName();
      if (name.startsWith("org.yunti.observe.trace.") || name.equals("java.lang.YuntiTrace")) {
        continue;
      }
      text.append('|').append(name).append('.').append(frame.getMethodName());
      if (++callers == CALLERS) {
        break;
      }
    }
    news.add(text.toString());
    if (free(object) >= 0 && sizedCount.incrementAndGet() <= SIZED_MAX) {
      sized.add(new Sized(identity, new WeakReference<>(object)));
    }
  }

  /** Returns the units of a pool that are free now; -1 for an object whose number of units is fixed. */
  private static int free(Object object) {
    if (object instanceof Semaphore semaphore) {
      return semaphore.availablePermits();
    }
    return object instanceof BlockingQueue<?> queue ? queue.size() : -1;
  }

  /** Receiver of a pool's free units at a time. */
  public interface Free {
    void accept(int identity, long nanoTime, int units);
  }

  /** Counts the free units of all pools. */
  public void count(Free each) {
    for (Sized pool : sized) {
      Object object = pool.object.get();
      if (object == null) {
        sized.remove(pool);
      } else {
        int units = free(object);
        each.accept(pool.identity, System.nanoTime(), units);
      }
    }
  }

  /** Returns how many can hold or use the object at once, as far as it says so; -1 if it does not. */
  private static int size(Object object) {
    try {
      if (object instanceof ThreadPoolExecutor pool) {
        // Beyond its core size a pool grows only when its queue is full.
        boolean canQueue = !(pool.getQueue() instanceof SynchronousQueue) && pool.getQueue().remainingCapacity() > 1000;
        return canQueue ? pool.getCorePoolSize() : pool.getMaximumPoolSize();
      }
      if (object.getClass().getName().startsWith("java.util.concurrent.locks.")) {
        return 1;
      }
      List<Object> places = new ArrayList<>(List.of(object));
      for (String name : CONFIGURATIONS) {
        Object place = field(object, name);
        if (place != null) {
          places.add(place);
        }
      }
      for (Object place : places) {
        for (String name : SIZES) {
          Integer size = number(place, name);
          if (size != null) {
            return size;
          }
        }
      }
    } catch (Throwable e) {
      // An object that does not say it.
    }
    return -1;
  }

  private static Object field(Object object, String name) {
    for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
      try {
        var field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
      } catch (ReflectiveOperationException | RuntimeException e) {
        // Perhaps in its superclass.
      }
    }
    return null;
  }

  private static Integer number(Object object, String name) {
    for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
      try {
        Method method = type.getMethod(name);
        return method.invoke(object) instanceof Integer size ? size : null;
      } catch (ReflectiveOperationException | RuntimeException e) {
        // A class that cannot be reached; perhaps its superclass can.
      }
    }
    return null;
  }

  /** Returns the next description; null if there is none. */
  public String next() {
    return news.poll();
  }
}
