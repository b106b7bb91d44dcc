package org.yunti.table.frozen;

import org.yunti.table.memory.HeapBytes;

/** XXH64, the hash of texts, names and keys in frozen objects. */
final class Xxh64 {
  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private Xxh64() {
  }

  static long hash(byte[] bytes, int offset, int length, long seed) {
    int end = offset + length;
    int at = offset + (length & -32);
    long h = (length >= 32 ? stripes(bytes, offset, at, seed) : seed + P5) + length;
    for (; at <= end - 8; at += 8) {
      h = Long.rotateLeft(h ^ round(0, HeapBytes.getLong(bytes, at)), 27) * P1 + P4;
    }
    if (at <= end - 4) {
      h = Long.rotateLeft(h ^ (HeapBytes.getInt(bytes, at) & 0xffff_ffffL) * P1, 23) * P2 + P3;
      at += 4;
    }
    for (; at < end; at++) {
      h = Long.rotateLeft(h ^ (bytes[at] & 0xff) * P5, 11) * P1;
    }
    return finish(h);
  }

  /** Sums the whole 32 bytes. Apart, since the JIT inlines small methods only. */
  private static long stripes(byte[] bytes, int begin, int end, long seed) {
    long a = seed + P1 + P2;
    long b = seed + P2;
    long c = seed;
    long d = seed - P1;
    for (int at = begin; at < end; at += 32) {
      a = round(a, HeapBytes.getLong(bytes, at));
      b = round(b, HeapBytes.getLong(bytes, at + 8));
      c = round(c, HeapBytes.getLong(bytes, at + 16));
      d = round(d, HeapBytes.getLong(bytes, at + 24));
    }
    long h = Long.rotateLeft(a, 1) + Long.rotateLeft(b, 7) + Long.rotateLeft(c, 12) + Long.rotateLeft(d, 18);
    return merge(merge(merge(merge(h, a), b), c), d);
  }

  private static long round(long sum, long input) {
    return Long.rotateLeft(sum + input * P2, 31) * P1;
  }

  private static long merge(long h, long sum) {
    return (h ^ round(0, sum)) * P1 + P4;
  }

  private static long finish(long h) {
    h = (h ^ h >>> 33) * P2;
    h = (h ^ h >>> 29) * P3;
    return h ^ h >>> 32;
  }
}
