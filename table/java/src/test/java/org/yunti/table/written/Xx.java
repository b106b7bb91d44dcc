package org.yunti.table.written;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** XXH64 by its specification, beside the reader's. */
final class Xx {
  private static final long A = 0x9E3779B185EBCA87L;
  private static final long B = 0xC2B2AE3D27D4EB4FL;
  private static final long C = 0x165667B19E3779F9L;
  private static final long D = 0x85EBCA77C2B2AE63L;
  private static final long E = 0x27D4EB2F165667C5L;

  private Xx() {
  }

  static long hash(byte[] bytes, long seed) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long sum;
    if (bytes.length >= 32) {
      long[] lanes = {seed + A + B, seed + B, seed, seed - A};
      while (in.remaining() >= 32) {
        for (int i = 0; i < 4; i++) {
          lanes[i] = round(lanes[i], in.getLong());
        }
      }
      sum = Long.rotateLeft(lanes[0], 1) + Long.rotateLeft(lanes[1], 7) + Long.rotateLeft(lanes[2], 12)
          + Long.rotateLeft(lanes[3], 18);
      for (long lane : lanes) {
        sum = (sum ^ round(0, lane)) * A + D;
      }
    } else {
      sum = seed + E;
    }
    sum += bytes.length;
    while (in.remaining() >= 8) {
      sum = Long.rotateLeft(sum ^ round(0, in.getLong()), 27) * A + D;
    }
    if (in.remaining() >= 4) {
      sum = Long.rotateLeft(sum ^ (in.getInt() & 0xffffffffL) * A, 23) * B + C;
    }
    while (in.hasRemaining()) {
      sum = Long.rotateLeft(sum ^ (in.get() & 0xff) * E, 11) * A;
    }
    sum = (sum ^ sum >>> 33) * B;
    sum = (sum ^ sum >>> 29) * C;
    return sum ^ sum >>> 32;
  }

  private static long round(long lane, long input) {
    return Long.rotateLeft(lane + input * B, 31) * A;
  }
}
