package org.yunti.hadoop.key;

import java.util.Arrays;

/**
 * Merge of sorted keys of several sources for native code. It holds a window of keys of each source, and a tree of
 * losers (Knuth 3, 5.4.1), so that a key costs log2(sources) comparisons.
 *
 * <p>Call order: {@link #put} for each source, then {@link #next}; then {@code put} for the last source of the result,
 * and so on.
 */
final class KeyMerge {
  private final KeyComparator comparator;
  private final int sources;
  private final byte[][] keys;
  private final int[][] ends;
  /** Number of the next key in each window. */
  private final int[] at;

  /** Losers of the inner nodes 1, 2, ..; node n has the children 2n and 2n + 1, and source s is leaf sources + s. */
  private final int[] losers;

  private int winner;
  private boolean isBuilt;
  /** True if the winner's window was replaced. */
  private boolean isReplaced;

  private int[] sequence = new int[1 << 10];

  KeyMerge(KeyComparator comparator, int sources) {
    this.comparator = comparator;
    this.sources = sources;
    keys = new byte[sources][];
    ends = new int[sources][];
    at = new int[sources];
    losers = new int[sources];
  }

  /** Replaces the window of a source; a window without keys ends the source. */
  void put(int source, byte[] newKeys, int[] newEnds) {
    keys[source] = newKeys;
    ends[source] = newEnds;
    at[source] = 0;
    isReplaced = true;
  }

  /** Returns the sources of the next keys, up to the last key of a window; empty at the end. */
  int[] next() {
    comparator.enter();
    try {
      if (!isBuilt) {
        winner = play(1);
        isBuilt = true;
      } else if (isReplaced) {
        replay();
      }
      isReplaced = false;
      int count = 0;
      while (!isExhausted(winner)) {
        if (count == sequence.length) {
          sequence = Arrays.copyOf(sequence, 2 * count);
        }
        sequence[count++] = winner;
        at[winner]++;
        if (isExhausted(winner)) {
          break;
        }
        replay();
      }
      return Arrays.copyOf(sequence, count);
    } catch (RuntimeException | Error e) {
      comparator.failed(e);
      throw e;
    }
  }

  private boolean isExhausted(int source) {
    return at[source] == ends[source].length;
  }

  /** Plays all matches below a node; returns the winner. */
  private int play(int node) {
    if (node >= sources) {
      return node - sources;
    }
    int a = play(2 * node);
    int b = play(2 * node + 1);
    boolean first = comesFirst(a, b);
    losers[node] = first ? b : a;
    return first ? a : b;
  }

  /** Plays the matches of the winner's next key. */
  private void replay() {
    int now = winner;
    for (int node = (sources + now) >>> 1; node > 0; node >>>= 1) {
      int loser = losers[node];
      if (comesFirst(loser, now)) {
        losers[node] = now;
        now = loser;
      }
    }
    winner = now;
  }

  /** Returns true if the next key of {@code a} comes before the next of {@code b}; equal keys keep their order. */
  private boolean comesFirst(int a, int b) {
    if (isExhausted(a) || isExhausted(b)) {
      return !isExhausted(a);
    }
    int order = comparator.compare(keys[a], ends[a], at[a], keys[b], ends[b], at[b]);
    return order < 0 || (order == 0 && a < b);
  }
}
