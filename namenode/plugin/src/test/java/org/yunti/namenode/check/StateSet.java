package org.yunti.namenode.check;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Set of visited states, 16 bytes each: 127 bits of a hash, and a bit for states on the current path. Linear probing.
 */
final class StateSet {
  enum Known { NEW, SEEN, ON_THE_WAY }

  private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ON_THE_WAY = 1;

  private long[] words = new long[1 << 12];
  private int size;
  private long first;
  private long second;

  int size() {
    return size;
  }

  /** Adds a state as visited and on the path. Returns its status before. */
  Known enter(byte[] state) {
    hash(state);
    int at = find(first, second);
    if (words[at] != 0) {
      return (words[at + 1] & ON_THE_WAY) != 0 ? Known.ON_THE_WAY : Known.SEEN;
    }
    words[at] = first;
    words[at + 1] = second | ON_THE_WAY;
    if (++size > words.length / 4) {
      grow();
    }
    return Known.NEW;
  }

  void leave(byte[] state) {
    hash(state);
    words[find(first, second) + 1] &= ~ON_THE_WAY;
  }

  /** Returns the index of a hash, or of its free place. */
  private int find(long one, long two) {
    int mask = words.length / 2 - 1;
    int place = (int) (one >>> 20) & mask;
    while (words[2 * place] != 0 && !(words[2 * place] == one && (words[2 * place + 1] & ~ON_THE_WAY) == two)) {
      place = (place + 1) & mask;
    }
    return 2 * place;
  }

  private void grow() {
    long[] old = words;
    words = new long[Math.multiplyExact(old.length, 2)];
    for (int at = 0; at < old.length; at += 2) {
      if (old[at] != 0) {
        int to = find(old[at], old[at + 1] & ~ON_THE_WAY);
        words[to] = old[at];
        words[to + 1] = old[at + 1];
      }
    }
  }

  private void hash(byte[] state) {
    long one = 0x9E3779B97F4A7C15L ^ state.length;
    long two = 0xC2B2AE3D27D4EB4FL;
    int at = 0;
    for (; at + 8 <= state.length; at += 8) {
      long word = (long) LONGS.get(state, at);
      one = Long.rotateLeft((one ^ word) * 0xFF51AFD7ED558CCDL, 29) * 0x94D049BB133111EBL;
      two = Long.rotateLeft((two + word) * 0xBF58476D1CE4E5B9L, 37) ^ (two >>> 23);
    }
    for (; at < state.length; at++) {
      one = Long.rotateLeft((one ^ state[at]) * 0xFF51AFD7ED558CCDL, 29) * 0x94D049BB133111EBL;
      two = Long.rotateLeft((two + state[at]) * 0xBF58476D1CE4E5B9L, 37) ^ (two >>> 23);
    }
    one ^= one >>> 32;
    two = (two ^ (two >>> 31)) * 0x94D049BB133111EBL;
    // An empty place is 0.
    first = one == 0 ? 1 : one;
    second = (two ^ (two >>> 29)) & ~ON_THE_WAY;
  }
}
