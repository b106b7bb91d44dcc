package org.yunti.table.written;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The hash of keys by docs/formats/ytab.md, beside the reader's. */
public final class Hash {
  private static final long A = 0x2d358dccaa6c78a5L;
  private static final long B = 0x8bb84b93962eacc9L;
  private static final long C = 0x4b33a62ed433d4a3L;

  private Hash() {
  }

  /** Returns the upper half of an unsigned product. */
  static long high(long a, long b) {
    return Math.multiplyHigh(a, b) + (a < 0 ? b : 0) + (b < 0 ? a : 0);
  }

  private static long fold(long a, long b) {
    return high(a, b) ^ a * b;
  }

  public static long of(byte[] key, long seed) {
    ByteBuffer in = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
    int n = key.length;
    long start = fold(seed ^ A, B);
    if (n == 8) {
      return fold(in.getLong() ^ start, B);
    }
    long s = start ^ n * C;
    while (in.remaining() > 16) {
      s = fold(in.getLong() ^ s, in.getLong() ^ B);
    }
    long a = 0;
    long b = 0;
    if (n > 8) {
      a = in.getLong(n < 16 ? 0 : n - 16);
      b = in.getLong(n - 8);
    } else if (n >= 4) {
      a = Integer.toUnsignedLong(in.getInt(0));
      b = Integer.toUnsignedLong(in.getInt(n - 4));
    } else if (n > 0) {
      a = (in.get(0) & 0xff) + ((in.get(n / 2) & 0xff) << 8) + ((in.get(n - 1) & 0xff) << 16);
    }
    return fold(a ^ s, b ^ B);
  }
}
