package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Chunks of words from many threads to one, in the order in which they found room. Nobody waits: where there is no room, the chunk is not taken.
 *
 * <pre>
 *         tail                      head
 *   .. 0 | n  word word | n  word  | 0 0 0 ..      n: the words of the chunk, itself too; 0: not written yet
 * </pre>
 *
 * A writer claims room by moving the head, and writes n last. The reader leaves zeros.
 */
final class Ring {
  private static final int CAPACITY = 1 << 17;
  private static final int MASK = CAPACITY - 1;
  /** The first word of a chunk says its length in these bits. */
  static final long LENGTH = 0xffff_ffffL;

  private final AtomicLongArray words = new AtomicLongArray(CAPACITY);
  private final AtomicLong head = new AtomicLong();
  private final AtomicLong tail = new AtomicLong();

  /** @param first what the chunk begins with, its length in it; behind it come two parts */
  boolean offer(long first, long[] a, int aLength, long[] b, int bLength) {
    int n = 1 + aLength + bLength;
    long at;
    do {
      at = head.get();
      if (at + n - tail.get() > CAPACITY) {
        return false;
      }
    } while (!head.compareAndSet(at, at + n));
    for (int i = 0; i < aLength; i++) {
      words.setPlain((int) (at + 1 + i) & MASK, a[i]);
    }
    for (int i = 0; i < bLength; i++) {
      words.setPlain((int) (at + 1 + aLength + i) & MASK, b[i]);
    }
    words.setRelease((int) at & MASK, first);
    return true;
  }

  /** All whole chunks that are here, one behind the other. */
  long[] take() {
    long from = tail.get();
    long to = from;
    for (long first; to - from < CAPACITY && (first = words.getAcquire((int) to & MASK)) != 0; ) {
      to += first & LENGTH;
    }
    long[] taken = new long[(int) (to - from)];
    for (int i = 0; i < taken.length; i++) {
      int at = (int) (from + i) & MASK;
      taken[i] = words.getPlain(at);
      words.setPlain(at, 0);
    }
    tail.set(to);
    return taken;
  }
}
