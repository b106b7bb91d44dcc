package org.yunti.hadoop.key;

import org.apache.hadoop.io.RawComparator;

/**
 * Job's comparator for native code (key_comparator.rs), which sorts and merges keys whose order only the comparator
 * knows. A call takes thousands of serialised keys, so that few calls cross to Java.
 *
 * <pre>
 *   keys | key 0 | key 1    | key 2 |
 *   ends         ^          ^       ^
 * </pre>
 *
 * <p>A comparator may contradict itself. The sort and the merge still end, after the same number of comparisons, and
 * lose no key. A comparator that throws ends the attempt with its own exception.
 */
public final class KeyComparator extends KeyCode {
  /** Keys of a run, at least: shorter runs are filled up by insertion. */
  private static final int RUN_KEYS = 12;

  private final RawComparator<?> comparator;

  public KeyComparator(RawComparator<?> comparator) {
    this.comparator = comparator;
  }

  int compare(byte[] keys, int[] ends, int a, byte[] otherKeys, int[] otherEnds, int b) {
    int startA = a == 0 ? 0 : ends[a - 1];
    int startB = b == 0 ? 0 : otherEnds[b - 1];
    return comparator.compare(keys, startA, ends[a] - startA, otherKeys, startB, otherEnds[b] - startB);
  }

  /**
   * Returns the numbers of the keys in order; equal keys keep their order. Native code calls it. Keys that ascend, or
   * descend, cost one comparison each.
   */
  int[] sort(byte[] keys, int[] ends) {
    enter();
    try {
      return new Sort(keys, ends).run();
    } catch (RuntimeException | Error e) {
      failed(e);
      throw e;
    }
  }

  /** Starts a merge; native code calls it. */
  KeyMerge merge(int sources) {
    return new KeyMerge(this, sources);
  }

  /**
   * Merge sort of natural runs, on the numbers of the keys. Hadoop's own sort, QuickSort, makes a fifth more
   * comparisons; {@code java.util} throws if a comparator contradicts itself.
   */
  private final class Sort {
    private final byte[] keys;
    private final int[] ends;
    private int[] order;
    private int[] other;
    /** Start of each run, and the end of the last one. */
    private int[] runs;

    private int count;

    Sort(byte[] keys, int[] ends) {
      this.keys = keys;
      this.ends = ends;
      order = new int[ends.length];
      runs = new int[ends.length / RUN_KEYS + 2];
      for (int i = 0; i < order.length; i++) {
        order[i] = i;
      }
    }

    private int compare(int a, int b) {
      return KeyComparator.this.compare(keys, ends, a, keys, ends, b);
    }

    int[] run() {
      int at = 0;
      while (at < order.length) {
        runs[count++] = at;
        at = findRun(at);
      }
      runs[count] = order.length;
      if (count > 1) {
        other = new int[order.length];
      }
      while (count > 1) {
        mergeRuns();
      }
      return order;
    }

    /** Makes the keys from {@code start} on a run of {@link #RUN_KEYS} or more; returns its end. */
    private int findRun(int start) {
      int n = order.length;
      int end = start + 1;
      if (end == n) {
        return n;
      }
      if (compare(order[start], order[end]) > 0) {
        do {
          end++;
        } while (end < n && compare(order[end - 1], order[end]) > 0);
        for (int low = start, high = end - 1; low < high; low++, high--) {
          int swapped = order[low];
          order[low] = order[high];
          order[high] = swapped;
        }
      } else {
        do {
          end++;
        } while (end < n && compare(order[end - 1], order[end]) <= 0);
      }
      int full = Math.min(n, start + RUN_KEYS);
      for (; end < full; end++) {
        insert(start, end);
      }
      return end;
    }

    /** Inserts the key at {@code end} into the run [{@code start}, {@code end}), behind its equals. */
    private void insert(int start, int end) {
      int key = order[end];
      int low = start;
      int high = end;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (compare(order[middle], key) > 0) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      System.arraycopy(order, low, order, low + 1, end - low);
      order[low] = key;
    }

    /** Merges each run with its neighbour. */
    private void mergeRuns() {
      int merged = 0;
      for (int run = 0; run < count; run += 2) {
        int start = runs[run];
        int middle = runs[run + 1];
        int end = run + 1 < count ? runs[run + 2] : middle;
        mergeRun(start, middle, end);
        runs[merged++] = start;
      }
      runs[merged] = order.length;
      count = merged;
      int[] sorted = other;
      other = order;
      order = sorted;
    }

    private void mergeRun(int start, int middle, int end) {
      if (middle == end || compare(order[middle - 1], order[middle]) <= 0) {
        System.arraycopy(order, start, other, start, end - start);
        return;
      }
      int a = start;
      int b = middle;
      int to = start;
      while (a < middle && b < end) {
        other[to++] = compare(order[a], order[b]) <= 0 ? order[a++] : order[b++];
      }
      System.arraycopy(order, a, other, to, middle - a);
      System.arraycopy(order, b, other, to + middle - a, end - b);
    }
  }
}
