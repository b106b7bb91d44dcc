package org.yunti.table.format;

import org.yunti.table.memory.HeapBytes;

/**
 * The hash of keys, and the slots and shards that follow from it. Each step multiplies two words to 128 bits and folds
 * the halves: one step for a key of 16 bytes or less, one more for each 16 bytes.
 */
public final class KeyHash {
  private static final long A = 0x2d358dccaa6c78a5L;
  private static final long B = 0x8bb84b93962eacc9L;
  private static final long C = 0x4b33a62ed433d4a3L;
  private static final long PILOT_STEP = 0x4d5a2da51de1aa47L;
  private static final long STEP = 0x9E3779B97F4A7C15L;
  private static final long START_OF_SHARDS = start(0);

  private KeyHash() {
  }

  private static long fold(long a, long b) {
    return Product.high(a, b) ^ a * b;
  }

  /** Returns what a seed is for the hashes of a table. */
  public static long start(long seed) {
    return fold(seed ^ A, B);
  }

  /** Returns the hash of the 8 bytes of a number. */
  public static long hash(long number, long start) {
    return fold(number ^ start, B);
  }

  public static long hash(byte[] bytes, int offset, int length, long start) {
    if (length == 8) {
      return hash(HeapBytes.getLong(bytes, offset), start);
    }
    long sum = start ^ length * C;
    if (length < 8) {
      return shorter(bytes, offset, length, sum);
    }
    int end = offset + length;
    for (int at = offset; at < end - 16; at += 16) {
      sum = fold(HeapBytes.getLong(bytes, at) ^ sum, HeapBytes.getLong(bytes, at + 8) ^ B);
    }
    // The last words may have bytes that were used.
    return fold(HeapBytes.getLong(bytes, Math.max(offset, end - 16)) ^ sum, HeapBytes.getLong(bytes, end - 8) ^ B);
  }

  private static long shorter(byte[] bytes, int offset, int length, long sum) {
    if (length >= 4) {
      return fold(HeapBytes.getInt(bytes, offset) & 0xffff_ffffL ^ sum,
          HeapBytes.getInt(bytes, offset + length - 4) & 0xffff_ffffL ^ B);
    }
    long word = 0;
    if (length > 0) {
      word = bytes[offset] & 0xff | (bytes[offset + length / 2] & 0xff) << 8 | (bytes[offset + length - 1] & 0xff) << 16;
    }
    return fold(word ^ sum, B);
  }

  /** Returns the slot in a part of a number of slots. */
  public static long slot(long hash, int pilot, long slots) {
    return Product.high((hash ^ pilot * PILOT_STEP) * STEP, slots);
  }

  /** Returns the shard of a key, from 0. */
  public static int shard(byte[] key, int offset, int length, int shards) {
    return (int) Product.high(hash(key, offset, length, START_OF_SHARDS), shards);
  }
}
