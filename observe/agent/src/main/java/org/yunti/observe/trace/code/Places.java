package org.yunti.observe.trace.code;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Methods at which something is taken, given back, submitted, begun or ended: in the JDK, and in libraries with pools
 * of their own. A class with such methods is changed whenever it is loaded: a pool that is far from its limit shows in
 * no sample of waits, and may be the limit of the service all the same.
 *
 * <pre>
 *   want, acquired, release   of the object itself; acquired is reported only if the method's result says so
 *   submit, begin, end        of a task, which is an argument or the object itself
 * </pre>
 */
final class Places {
  /** Role of a method. */
  enum Role {
    /** Waits for the object if it must, and has it at its return, unless it returns false, null or 0. */
    ACQUIRE,
    /** Is like ACQUIRE, but others may have it at the same time that take it in this way. */
    SHARE,
    /** Has a number of units, an argument, if it has the object. */
    UNITS,
    /** Has it no more from its begin on. */
    RELEASE,
    /** Gives it back at its begin, and has it again at its end, in any case. */
    AWAIT,
    /** Has it from its begin to its end. */
    HOLD,
    /** Hands over a task, which is an argument or the object itself. */
    SUBMIT,
    /** Is called before a task by a thread of its object, the pool. */
    BEFORE,
    /** Is called after a task. */
    AFTER,
    /** Hands over a task that runs after a delay. */
    SCHEDULE,
    /** Is the task. */
    RUN,
    /** Is a request, or its first part. */
    REQUEST,
    /** Is a request, or a further part of the one that its object has begun. */
    REQUEST_OR_PART,
    /** Is a further part of a request, or a stretch of work that may have some. */
    PART,
    /** Begins a request within a part. */
    BEGIN,
    /** The request is answered. */
    DONE,
    /** As {@link #DONE}, if the second argument is of a class. */
    DONE_IF,
    /** The method and path of the request are known. */
    NAME
  }

  /**
   * Way to the object that an event is about.
   *
   * @param argument number of the argument, from 1 on; 0: {@link #SELF}
   * @param owner class of the member, by its internal name; null: the changed class
   * @param member field or method of an interface; null: none
   * @param type descriptor of the member, which begins with '(' for a method
   */
  record About(int argument, String owner, String member, String type) {
    /** The object itself, or the class of a static method. */
    static final About SELF = argument(0);
    /** No object: the event is about what the thread does. */
    static final About NONE = argument(-1);

    static About field(String name, String type) {
      return new About(0, null, name, type);
    }

    static About argument(int number) {
      return new About(number, null, null, null);
    }

    boolean isMethod() {
      return type != null && type.startsWith("(");
    }
  }

  /** Slot of a place that has neither a key nor a number of units. */
  static final int NO_SLOT = -1;
  /** Slot of a key that the result of the method has. */
  static final int RESULT = Integer.MAX_VALUE;

  /**
   * Method of a class, by name and descriptor. A descriptor that ends with ')' stands for any result.
   *
   * @param about object that it is about: a task, a request, or what is taken
   * @param last class of the second argument for {@link Role#DONE_IF}, by its internal name
   * @param owner way from the object to what is taken, as names of methods and fields; null: that object
   * @param slot local variable of the key, or of the number of units
   * @param key way from there to the key: a pool has units for each value of it, such as the connections of each route
   */
  record Place(String method, String descriptor, Role role, About about, String last, String owner, int slot,
      String key) {
    Place(String method, String descriptor, Role role, About about) {
      this(method, descriptor, role, about, null, null, NO_SLOT, null);
    }

    Place(String method, String descriptor, Role role) {
      this(method, descriptor, role, About.SELF);
    }

    Place about(About of) {
      return new Place(method, descriptor, role, of, last, owner, slot, key);
    }

    Place ifSecondIs(String type) {
      return new Place(method, descriptor, role, about, type, owner, slot, key);
    }

    Place of(String way) {
      return new Place(method, descriptor, role, about, last, way, slot, key);
    }

    Place by(int ofKey, String way) {
      return new Place(method, descriptor, role, about, last, owner, ofKey, way);
    }

    Place withUnits(int ofUnits) {
      return new Place(method, descriptor, role, about, last, owner, ofUnits, null);
    }

    boolean isOfSeveral() {
      return key == null && slot != NO_SLOT;
    }

    boolean hasKey() {
      return key != null;
    }

    boolean matches(String name, String signature) {
      return method.equals(name) && (descriptor.isEmpty() || signature.startsWith(descriptor));
    }
  }

  private static final Map<String, List<Place>> KNOWN = new HashMap<>();

  private static final String HTTP_CLIENT_5 = "org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager";
  private static final String ROUTE_5 = "getPoolEntry.getRoute";
  /** A lease is an object of an anonymous class, which leads to its manager. */
  private static final List<Place> LEASE = List.of(acquire("get", "(Lorg/apache/hc/core5/util/Timeout;)")
      .about(About.field("this$0", "L" + HTTP_CLIENT_5.replace('.', '/') + ";")).by(RESULT, ROUTE_5));

  private Places() {}

  static List<Place> of(String className) {
    if (className.startsWith(HTTP_CLIENT_5) && className.matches(".*[$][0-9]+")) {
      return LEASE;
    }
    return KNOWN.getOrDefault(className, List.of());
  }

  private static Place acquire(String method, String descriptor) {
    return new Place(method, descriptor, Role.ACQUIRE);
  }

  private static Place share(String method, String descriptor) {
    return new Place(method, descriptor, Role.SHARE);
  }

  /** Returns a place at which the first argument is the number of units. */
  private static Place several(String method, String descriptor) {
    return new Place(method, descriptor, Role.ACQUIRE).withUnits(1);
  }

  private static Place release(String method, String descriptor) {
    return new Place(method, descriptor, Role.RELEASE);
  }

  private static Place submit(String method, String descriptor, int task) {
    return new Place(method, descriptor, Role.SUBMIT, About.argument(task));
  }

  private static void add(String className, Place... places) {
    KNOWN.put(className, List.of(places));
  }

  static {
    addLocks();
    addQueues();
    addTasks();
    addPools();
    addClients();
  }

  /** Locks that have conditions are known by their synchronizer: conditions lead to nothing else. */
  private static void addLocks() {
    String locks = "java.util.concurrent.locks.";
    String sync = "sync Ljava/util/concurrent/locks/Reentrant";
    Place[] lock = {acquire("lock", "()"), acquire("lockInterruptibly", "()"), acquire("tryLock", ""),
        release("unlock", "()")};
    Place[] read = {share("lock", "()"), share("lockInterruptibly", "()"), share("tryLock", ""),
        release("unlock", "()")};
    add(locks + "ReentrantLock", about(sync + "Lock$Sync;", lock));
    add(locks + "ReentrantReadWriteLock$WriteLock", about(sync + "ReadWriteLock$Sync;", lock));
    add(locks + "ReentrantReadWriteLock$ReadLock", about(sync + "ReadWriteLock$Sync;", read));
    String condition = "this$0 Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;";
    add(locks + "AbstractQueuedSynchronizer$ConditionObject",
        about(condition, await("await"), await("awaitNanos"), await("awaitUntil"), await("awaitUninterruptibly")));
    add(locks + "StampedLock", acquire("writeLock", "()"), acquire("writeLockInterruptibly", "()"),
        acquire("tryWriteLock", ""), share("readLock", "()"), share("readLockInterruptibly", "()"),
        share("tryReadLock", ""), release("unlockWrite", "(J)"), release("unlockRead", "(J)"), release("unlock", "(J)"),
        release("unstampedUnlockWrite", "()"), release("unstampedUnlockRead", "()"));
    add("java.util.concurrent.Semaphore", acquire("acquire", "()"), acquire("acquireUninterruptibly", "()"),
        acquire("tryAcquire", "()"), acquire("tryAcquire", "(J"), several("acquire", "(I)"),
        several("acquireUninterruptibly", "(I)"), several("tryAcquire", "(I"), release("release", ""));
  }

  private static Place await(String method) {
    return new Place(method, "", Role.AWAIT);
  }

  /** Returns the places about an object in a field: {@code name Ldescriptor;}. */
  private static Place[] about(String field, Place... places) {
    About of = About.field(field.substring(0, field.indexOf(' ')), field.substring(field.indexOf(' ') + 1));
    Place[] all = new Place[places.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = places[i].about(of);
    }
    return all;
  }

  /** Queues as pools: a thread takes an item and puts it back. Work queues are taken from by others than put into. */
  private static void addQueues() {
    String timed = "(JLjava/util/concurrent/TimeUnit;)";
    for (String queue : new String[] {"ArrayBlockingQueue", "LinkedBlockingQueue", "LinkedTransferQueue"}) {
      add("java.util.concurrent." + queue, acquire("take", "()"), acquire("poll", "()"), acquire("poll", timed),
          release("put", ""), release("offer", ""));
    }
    add("java.util.concurrent.LinkedBlockingDeque", acquire("takeFirst", "()"), acquire("takeLast", "()"),
        acquire("pollFirst", "()"), acquire("pollLast", "()"), acquire("pollFirst", timed), acquire("pollLast", timed),
        release("putFirst", ""), release("putLast", ""), release("offerFirst", ""), release("offerLast", ""));
  }

  private static void addTasks() {
    About first = About.argument(1);
    String task = "(Ljava/util/concurrent/ForkJoinTask;)";
    for (String pool : new String[] {"java.util.concurrent", "org.apache.tomcat.util.threads"}) {
      add(pool + ".ThreadPoolExecutor", submit("execute", "(Ljava/lang/Runnable;)", 1),
          new Place("beforeExecute", "(Ljava/lang/Thread;Ljava/lang/Runnable;)", Role.BEFORE, About.argument(2)),
          new Place("afterExecute", "(Ljava/lang/Runnable;", Role.AFTER, first));
    }
    add("java.util.concurrent.ForkJoinPool", submit("execute", "(Ljava/lang/Runnable;)", 1), submit("execute", task, 1),
        submit("externalSubmit", task, 1), submit("externalPush", task, 1), submit("invoke", task, 1),
        submit("poolSubmit", "(ZLjava/util/concurrent/ForkJoinTask;)", 2));
    add("java.util.concurrent.ForkJoinTask", submit("fork", "()", 0), run("doExec"));
    add("java.util.concurrent.FutureTask", run("run"));
    add("java.util.concurrent.CompletableFuture$AsyncSupply", run("run"));
    add("java.util.concurrent.CompletableFuture$AsyncRun", run("run"));
    add("java.util.concurrent.CompletableFuture$Completion", run("run"));
    add("java.util.concurrent.ScheduledThreadPoolExecutor",
        new Place("delayedExecute", "(Ljava/util/concurrent/RunnableScheduledFuture;)", Role.SCHEDULE, first));
    add("org.eclipse.jetty.util.thread.QueuedThreadPool", submit("execute", "(Ljava/lang/Runnable;)", 1),
        new Place("runJob", "(Ljava/lang/Runnable;)", Role.RUN, first));
    add("org.jboss.threads.EnhancedQueueExecutor",
        submit("tryExecute", "(Lorg/jboss/threads/EnhancedQueueExecutor$Task;)", 1));
    add("org.jboss.threads.EnhancedQueueExecutor$Task", run("run"));
    // gRPC has a copy of Netty under another name.
    for (String netty : new String[] {"io.netty.util.concurrent.", "io.grpc.netty.shaded.io.netty.util.concurrent."}) {
      add(netty + "SingleThreadEventExecutor", submit("execute", "(Ljava/lang/Runnable;)", 1),
          submit("lazyExecute", "(Ljava/lang/Runnable;)", 1));
      add(netty + "AbstractEventExecutor", new Place("safeExecute", "(Ljava/lang/Runnable;)", Role.RUN, first),
          new Place("runTask", "(Ljava/lang/Runnable;)", Role.RUN, first));
      add(netty + "AbstractScheduledEventExecutor",
          new Place("schedule", "(L" + netty.replace('.', '/') + "ScheduledFutureTask;)", Role.SCHEDULE, first));
    }
  }

  private static Place run(String method) {
    return new Place(method, "()", Role.RUN);
  }

  private static void addPools() {
    add("com.zaxxer.hikari.pool.HikariPool", acquire("getConnection", "(J)"), release("recycle", ""));
    for (String pool : new String[] {"org.apache.commons.pool2.impl", "org.apache.tomcat.dbcp.pool2.impl"}) {
      add(pool + ".GenericObjectPool", acquire("borrowObject", ""), release("returnObject", ""),
          release("invalidateObject", ""));
      add(pool + ".GenericKeyedObjectPool", acquire("borrowObject", "").by(1, ""),
          release("returnObject", "").by(1, ""), release("invalidateObject", "").by(1, ""));
    }
    add("org.apache.tomcat.jdbc.pool.ConnectionPool", acquire("getConnection", "()"), release("returnConnection", ""));
    add("com.mchange.v2.resourcepool.BasicResourcePool", acquire("checkoutResource", "(J)"),
        release("checkinResource", ""));
    add("com.alibaba.druid.pool.DruidDataSource", acquire("getConnectionDirect", "(J)"), release("recycle", ""));
  }

  private static void addClients() {
    add(HTTP_CLIENT_5, release("release", "").by(1, ROUTE_5));
    add("org.apache.http.impl.conn.PoolingHttpClientConnectionManager",
        acquire("leaseConnection", "").by(RESULT, "poolEntry.getRoute"),
        release("releaseConnection", "").by(1, "poolEntry.getRoute"));
    // The next call begins before the task of the last one ends.
    add("okhttp3.Dispatcher", submit("enqueue$okhttp", "", 1),
        release("finished$okhttp", "(Lokhttp3/internal/connection/RealCall$AsyncCall;)").by(1, "getHost"));
    add("okhttp3.internal.connection.RealCall$AsyncCall", run("run"),
        new Place("run", "()", Role.HOLD).of("this$0.getClient.dispatcher").by(0, "getHost"));
  }
}
