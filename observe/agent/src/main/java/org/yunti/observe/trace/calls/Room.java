package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicLong;

/** What all threads together may use for calls that are not told yet, beyond the little that each has from the beginning. */
final class Room {
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
