package org.yunti.observe.trace.calls;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A ring of chunks of words, from many threads to one. Writers never block: a chunk that does not fit is refused.
 *
 * <pre>
 *         tail                      head
 *   .. 0 | n  word word | n  word  | 0 0 0 ..      n: words in the chunk, including n; 0: not written yet
 * </pre>
 *
 * A writer claims space by moving the head, and writes n last. The reader leaves zeros.
 */
final class Ring {
  private static final int CAPACITY = 1 << 17;
  private static final int MASK = CAPACITY - 1;
  /** Bits of a chunk's first word that hold its length. */
  static final long LENGTH = 0xffff_ffffL;

  private final AtomicLongArray words = new AtomicLongArray(CAPACITY);
  private final AtomicLong head = new AtomicLong();
  private final AtomicLong tail = new AtomicLong();

  /**
   * Adds a chunk: a first word and two parts.
   *
   * @param first the first word, which includes the chunk's length
   * @return false if there is no space
   */
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

  /** Takes all complete chunks, one after the other. */
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
