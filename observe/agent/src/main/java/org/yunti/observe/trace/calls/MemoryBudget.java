package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicLong;

/** Memory budget of all threads for unsent calls, beyond each thread's initial buffers. */
final class MemoryBudget {
  private static final long BYTES = 32 << 20;

  private final AtomicLong used = new AtomicLong();

  boolean take(long bytes) {
    if (used.addAndGet(bytes) <= BYTES) {
      return true;
    }
    used.addAndGet(-bytes);
    return false;
  }
}
