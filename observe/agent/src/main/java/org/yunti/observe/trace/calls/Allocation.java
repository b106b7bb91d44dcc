package org.yunti.observe.trace.calls;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Bytes that threads have allocated since they began, as the JVM counts them. */
final class Allocation {
  private final ThreadMXBean threads;

  private Allocation(ThreadMXBean threads) {
    this.threads = threads;
  }

  /** Returns null in a JVM that does not count them, or that lacks the module for it. */
  static Allocation find() {
    try {
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      return threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled()
          ? new Allocation(threads) : null;
    } catch (Throwable e) {
      return null;
    }
  }

  long ofThisThread() {
    return threads.getCurrentThreadAllocatedBytes();
  }
}
