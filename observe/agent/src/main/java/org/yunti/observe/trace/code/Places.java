package org.yunti.observe.trace.code;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Methods at which something is taken, given back, submitted, begun or ended: in the JDK, and in libraries with pools
 * of their own.
 *
 * <pre>
 *   want, acquired, release   of the object itself; acquired is reported only if the method's result says so
 *   submit, begin, end        of a task, which is an argument or the object itself
 * </pre>
 */
final class Places {
  /** Role of a method. */
  enum Role {
    /** Waits for the object if it must, and has it at its return, unless it returns false or null. */
    ACQUIRE,
    /** Has it no more from its begin on. */
    RELEASE,
    /** Hands over a task, its first argument. */
    SUBMIT,
    /** Is called before a task, its second argument, by a thread of the pool. */
    BEFORE,
    /** Is called after a task, its first argument. */
    AFTER,
    /** Hands over a task, its first argument, that runs after a delay. */
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
   * @param argument number of the argument; 0: the object itself, or the class of a static method
   * @param owner class of the member, by its internal name; null: the changed class
   * @param member field or method of an interface; null: none
   * @param type descriptor of the member, which begins with '(' for a method
   */
  record About(int argument, String owner, String member, String type) {
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

  /**
   * Method of a class, by name and descriptor. A descriptor that ends with ')' stands for any result.
   *
   * @param about null: the object itself
   * @param last class of the second argument for {@link Role#DONE_IF}, by its internal name
   */
  record Place(String method, String descriptor, Role role, About about, String last) {
    Place(String method, String descriptor, Role role) {
      this(method, descriptor, role, null, null);
    }

    Place(String method, String descriptor, Role role, About about) {
      this(method, descriptor, role, about, null);
    }

    boolean matches(String name, String signature) {
      return method.equals(name) && (descriptor.isEmpty() || signature.startsWith(descriptor));
    }
  }

  private static final Map<String, List<Place>> KNOWN = new HashMap<>();

  private static final String HTTP_CLIENT_5 = "org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager";
  /** A lease is an object of an anonymous class, which leads to its manager. */
  private static final List<Place> LEASE = List.of(new Place("get", "(Lorg/apache/hc/core5/util/Timeout;)",
      Role.ACQUIRE, About.field("this$0", "L" + HTTP_CLIENT_5.replace('.', '/') + ";")));

  private Places() {}

  static List<Place> of(String className) {
    if (className.startsWith(HTTP_CLIENT_5) && className.matches(".*[$][0-9]+")) {
      return LEASE;
    }
    return KNOWN.getOrDefault(className, List.of());
  }

  /** Returns true if tasks are what a class is about. */
  static boolean areOfTasks(List<Place> places) {
    return !places.isEmpty() && places.get(0).role().ordinal() >= Role.SUBMIT.ordinal();
  }

  private static Place acquire(String method, String descriptor) {
    return new Place(method, descriptor, Role.ACQUIRE);
  }

  private static Place release(String method, String descriptor) {
    return new Place(method, descriptor, Role.RELEASE);
  }

  private static void add(String className, Place... places) {
    KNOWN.put(className, List.of(places));
  }

  static {
    Place[] lock = {acquire("lock", "()"), acquire("lockInterruptibly", "()"), acquire("tryLock", ""),
        release("unlock", "()")};
    add("java.util.concurrent.locks.ReentrantLock", lock);
    add("java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock", lock);
    add("java.util.concurrent.Semaphore", acquire("acquire", ""), acquire("acquireUninterruptibly", ""),
        acquire("tryAcquire", ""), release("release", ""));
    // Queues as pools: a thread takes an item and puts it back. Work queues are taken from by others than put into.
    String timed = "(JLjava/util/concurrent/TimeUnit;)";
    for (String queue : new String[] {"ArrayBlockingQueue", "LinkedBlockingQueue", "LinkedTransferQueue"}) {
      add("java.util.concurrent." + queue, acquire("take", "()"), acquire("poll", "()"), acquire("poll", timed),
          release("put", ""), release("offer", ""));
    }
    add("java.util.concurrent.LinkedBlockingDeque", acquire("takeFirst", "()"), acquire("takeLast", "()"),
        acquire("pollFirst", "()"), acquire("pollLast", "()"), acquire("pollFirst", timed), acquire("pollLast", timed),
        release("putFirst", ""), release("putLast", ""), release("offerFirst", ""), release("offerLast", ""));

    for (String pool : new String[] {"java.util.concurrent", "org.apache.tomcat.util.threads"}) {
      add(pool + ".ThreadPoolExecutor", new Place("execute", "(Ljava/lang/Runnable;)", Role.SUBMIT),
          new Place("beforeExecute", "(Ljava/lang/Thread;Ljava/lang/Runnable;)", Role.BEFORE),
          new Place("afterExecute", "(Ljava/lang/Runnable;", Role.AFTER));
    }
    add("java.util.concurrent.ForkJoinPool", new Place("execute", "(Ljava/lang/Runnable;)", Role.SUBMIT));
    add("java.util.concurrent.FutureTask", new Place("run", "()", Role.RUN));
    add("java.util.concurrent.CompletableFuture$AsyncSupply", new Place("run", "()", Role.RUN));
    add("java.util.concurrent.CompletableFuture$AsyncRun", new Place("run", "()", Role.RUN));
    add("java.util.concurrent.CompletableFuture$Completion", new Place("run", "()", Role.RUN));
    add("java.util.concurrent.ScheduledThreadPoolExecutor",
        new Place("delayedExecute", "(Ljava/util/concurrent/RunnableScheduledFuture;)", Role.SCHEDULE));
    About first = About.argument(1);
    add("org.eclipse.jetty.util.thread.QueuedThreadPool",
        new Place("execute", "(Ljava/lang/Runnable;)", Role.SUBMIT),
        new Place("runJob", "(Ljava/lang/Runnable;)", Role.RUN, first));
    add("org.jboss.threads.EnhancedQueueExecutor",
        new Place("tryExecute", "(Lorg/jboss/threads/EnhancedQueueExecutor$Task;)", Role.SUBMIT));
    add("org.jboss.threads.EnhancedQueueExecutor$Task", new Place("run", "()", Role.RUN));
    // gRPC has a copy of Netty under another name.
    for (String netty : new String[] {"io.netty.util.concurrent.", "io.grpc.netty.shaded.io.netty.util.concurrent."}) {
      add(netty + "SingleThreadEventExecutor", new Place("execute", "(Ljava/lang/Runnable;)", Role.SUBMIT),
          new Place("lazyExecute", "(Ljava/lang/Runnable;)", Role.SUBMIT));
      add(netty + "AbstractEventExecutor", new Place("safeExecute", "(Ljava/lang/Runnable;)", Role.RUN, first),
          new Place("runTask", "(Ljava/lang/Runnable;)", Role.RUN, first));
      add(netty + "AbstractScheduledEventExecutor",
          new Place("schedule", "(L" + netty.replace('.', '/') + "ScheduledFutureTask;)", Role.SCHEDULE));
    }

    add("com.zaxxer.hikari.pool.HikariPool", acquire("getConnection", "(J)"), release("recycle", ""));
    for (String pool : new String[] {"org.apache.commons.pool2.impl", "org.apache.tomcat.dbcp.pool2.impl"}) {
      add(pool + ".GenericObjectPool", acquire("borrowObject", ""), release("returnObject", ""),
          release("invalidateObject", ""));
    }
    add("org.apache.tomcat.jdbc.pool.ConnectionPool", acquire("getConnection", "()"), release("returnConnection", ""));
    add("com.mchange.v2.resourcepool.BasicResourcePool", acquire("checkoutResource", "(J)"),
        release("checkinResource", ""));
    add("com.alibaba.druid.pool.DruidDataSource", acquire("getConnectionDirect", "(J)"), release("recycle", ""));
    add(HTTP_CLIENT_5, release("release", ""));
    add("org.apache.http.impl.conn.PoolingHttpClientConnectionManager", acquire("leaseConnection", ""),
        release("releaseConnection", ""));
  }
}
