package org.yunti.observe.trace.objects;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Objects that events are about: how often, and a description of each that comes again: class, size, and the callers at
 * one of its first events. Locks and pools of a service are taken again and again, unlike what a request makes for
 * itself.
 *
 * <pre>
 *   identity, number of the place, class, size or -1, callers from the innermost on; separated by '|'
 * </pre>
 */
public final class Objects {
  private static final String LOCKS = "java.util.concurrent.locks.";
  private static final int CAPACITY = 1 << 14;
  private static final int PROBES = 32;
  /** Events of an object from which on it is described. */
  public static final int KNOWN_FROM = 8;
  /** Objects that are described. */
  private static final int OBJECTS_MAX = 2_000;
  private static final int SIZED_MAX = 200;
  private static final int CALLERS = 24;
  /** Events of one object in a second from which on it is turned off. */
  private static final int OFTEN = 50_000;
  /** Methods without parameters that return how many can be taken at once, in libraries' pools. */
  private static final List<String> SIZES = List.of("availablePermits", "getMaxTotalPerKey", "getMaxRequestsPerHost",
      "getDefaultMaxPerRoute", "getMaxThreads", "getMaximumPoolSize", "getMaxPoolSize", "getMaxTotal", "getMaxActive",
      "getPoolSize", "size");
  /** Method that returns how many can be taken at once of what a key stands for. */
  private static final String SIZE_BY_KEY = "getMaxPerRoute";
  /** Ways to the configuration of a pool. */
  private static final List<String> CONFIGURATIONS = List.of("config", "poolProperties", "pool");

  private final AtomicIntegerArray known = new AtomicIntegerArray(CAPACITY);
  /** Events of each object since the last check. Lost increments do not matter. */
  private final int[] counts = new int[CAPACITY];
  private final boolean[] isDescribed = new boolean[CAPACITY];
  private final boolean[] isOff = new boolean[CAPACITY];
  private final String[] classes = new String[CAPACITY];
  private final AtomicInteger used = new AtomicInteger();
  private final AtomicInteger described = new AtomicInteger();
  private final Queue<String> news = new ConcurrentLinkedQueue<>();
  /** Pools whose free units are counted again and again. */
  private final Queue<Sized> sized = new ConcurrentLinkedQueue<>();
  private final AtomicInteger sizedCount = new AtomicInteger();

  private record Sized(int identity, WeakReference<Object> object) {}

  /** Counts an event of an object, and returns its slot; -1 without one. */
  public int count(int identity) {
    int at = identity * 0x9e3779b9 >>> 18;
    for (int i = 0; i < PROBES; i++) {
      int slot = at + i & CAPACITY - 1;
      int there = known.get(slot);
      if (there == 0) {
        there = known.compareAndSet(slot, 0, identity) ? identity : known.get(slot);
        if (there == identity) {
          used.incrementAndGet();
        }
      }
      if (there == identity) {
        counts[slot]++;
        return slot;
      }
    }
    return -1;
  }

  public boolean isOff(int slot) {
    return isOff[slot];
  }

  /** Returns true for an object that comes again and has no description yet. */
  public boolean isNew(int slot) {
    return !isDescribed[slot] && counts[slot] >= KNOWN_FROM && described.get() < OBJECTS_MAX;
  }

  /** Receiver of a place or an object that was turned off. */
  public interface Off {
    void accept(String what);
  }

  /** Turns objects off that are taken too often, and makes room for others once most of it is used. */
  public void check(double seconds, Off off) {
    boolean isCrowded = used.get() > CAPACITY / 2;
    for (int slot = 0; slot < CAPACITY; slot++) {
      int identity = known.get(slot);
      if (identity == 0) {
        continue;
      }
      if (counts[slot] > OFTEN * seconds && !isOff[slot] && isDescribed[slot]) {
        isOff[slot] = true;
        off.accept(classes[slot] + ": it is taken too often");
      }
      if (isDescribed[slot]) {
        counts[slot] = 0;
      } else if (isCrowded) {
        counts[slot] = 0;
        used.decrementAndGet();
        known.set(slot, 0);
      }
    }
  }

  public void add(Object object, Object key, int identity, int slot, int number) {
    if (isDescribed[slot]) {
      return;
    }
    isDescribed[slot] = true;
    described.incrementAndGet();
    StringBuilder text = new StringBuilder();
    text.append(identity & 0xffff_ffffL).append('|').append(number).append('|');
    classes[slot] = className(object);
    text.append(classes[slot]).append(key == null ? "" : " of " + Texts.of(key).replace('|', '/'));
    text.append('|').append(size(object, key));
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

  private static String className(Object object) {
    if (object instanceof Class<?> type) {
      return "Class of " + type.getName();
    }
    String name = object.getClass().getName();
    // A lock is known by its synchronizer, an inner class.
    boolean isSynchronizer = name.startsWith(LOCKS) && name.endsWith("Sync");
    return isSynchronizer ? name.substring(0, name.indexOf('$')) : name;
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
  private static int size(Object object, Object key) {
    try {
      if (object instanceof ForkJoinPool pool) {
        return pool.getParallelism();
      }
      if (object instanceof ThreadPoolExecutor pool) {
        // Beyond its core size a pool grows only when its queue is full.
        boolean canQueue = !(pool.getQueue() instanceof SynchronousQueue) && pool.getQueue().remainingCapacity() > 1000;
        return canQueue ? pool.getCorePoolSize() : pool.getMaximumPoolSize();
      }
      if (object.getClass().getName().startsWith(LOCKS)) {
        return 1;
      }
      Integer byKey = key == null ? null : numberByKey(object, key);
      if (byKey != null) {
        return byKey;
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

  private static Integer numberByKey(Object object, Object key) {
    for (Method method : object.getClass().getMethods()) {
      try {
        if (method.getName().equals(SIZE_BY_KEY) && method.getParameterCount() == 1) {
          method.setAccessible(true);
          return method.invoke(object, key) instanceof Integer size ? size : null;
        }
      } catch (ReflectiveOperationException | RuntimeException e) {
        // Perhaps another method with this name.
      }
    }
    return null;
  }

  private static Integer number(Object object, String name) {
    for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
      try {
        Method method = type.getMethod(name);
        // The class of a pool need not be public.
        method.setAccessible(true);
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
