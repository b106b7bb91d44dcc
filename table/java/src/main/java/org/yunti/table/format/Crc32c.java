package org.yunti.table.format;

import java.util.zip.Checksum;

/** CRC-32C (Castagnoli): the JDK's of Java 9, which is an instruction, and eight tables on Java 8. */
public final class Crc32c implements Checksum {
  /** The polynomial with its bits reversed. */
  private static final int POLYNOMIAL = 0x82F63B78;
  private static final Class<?> BUILT_IN = builtIn();

  private static final class Tables {
    static final int[][] BYTES = new int[8][256];

    static {
      for (int n = 0; n < 256; n++) {
        int sum = n;
        for (int bit = 0; bit < 8; bit++) {
          sum = sum >>> 1 ^ ((sum & 1) == 0 ? 0 : POLYNOMIAL);
        }
        BYTES[0][n] = sum;
      }
      for (int n = 0; n < 256; n++) {
        for (int table = 1; table < 8; table++) {
          int before = BYTES[table - 1][n];
          BYTES[table][n] = before >>> 8 ^ BYTES[0][before & 0xff];
        }
      }
    }
  }

  private int sum = -1;

  private static Class<?> builtIn() {
    try {
      return Class.forName("java.util.zip.CRC32C");
    } catch (ClassNotFoundException before9) {
      return null;
    }
  }

  /** Returns the fastest sum of this JVM. */
  public static Checksum create() {
    if (BUILT_IN != null) {
      try {
        return (Checksum) BUILT_IN.getConstructor().newInstance();
      } catch (ReflectiveOperationException e) {
        return new Crc32c();
      }
    }
    return new Crc32c();
  }

  @Override
  public void update(int b) {
    sum = sum >>> 8 ^ Tables.BYTES[0][(sum ^ b) & 0xff];
  }

  @Override
  public void update(byte[] bytes, int offset, int length) {
    int[][] t = Tables.BYTES;
    int at = offset;
    int end = offset + length;
    int s = sum;
    for (; at <= end - 8; at += 8) {
      s ^= bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24;
      s = t[7][s & 0xff] ^ t[6][s >>> 8 & 0xff] ^ t[5][s >>> 16 & 0xff] ^ t[4][s >>> 24]
          ^ t[3][bytes[at + 4] & 0xff] ^ t[2][bytes[at + 5] & 0xff] ^ t[1][bytes[at + 6] & 0xff]
          ^ t[0][bytes[at + 7] & 0xff];
    }
    for (; at < end; at++) {
      s = s >>> 8 ^ t[0][(s ^ bytes[at]) & 0xff];
    }
    sum = s;
  }

  @Override
  public long getValue() {
    return ~sum & 0xffff_ffffL;
  }

  @Override
  public void reset() {
    sum = -1;
  }
}
