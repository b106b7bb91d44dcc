// Prints the values of Hadoop's TeraGen classes, one per line as `what: value`. The tests in
// engine/src/library/generate/tera.rs, generate/tera_ascii.rs and validate/tera.rs expect these values, and check.sh
// searches for each of them there.
//
// The class is in Hadoop's package because Random16 and GenSort are visible only there.
package org.apache.hadoop.examples.terasort;

import java.util.zip.CRC32;

public class Expected {
  /** Row number, its random number and its 100 bytes, advanced like TeraGen's mapper. */
  static final class Rows {
    private final Unsigned16 id;
    private final Unsigned16 random;
    private final Unsigned16 one = new Unsigned16(1);
    final byte[] record = new byte[100];

    Rows(long first) {
      id = new Unsigned16(first);
      random = Random16.skipAhead(id);
    }

    byte[] next(boolean ascii) {
      Random16.nextRand(random);
      if (ascii) {
        GenSort.generateAsciiRecord(record, random, id);
      } else {
        GenSort.generateRecord(record, random, id);
      }
      id.add(one);
      return record;
    }
  }

  static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      text.append(String.format("%02x", b));
    }
    return text.toString();
  }

  /** Prints the 64-bit FNV-1a over the bytes of n rows, and the sum of the CRC-32 of each row. */
  static void run(long first, int n, boolean ascii) {
    Rows rows = new Rows(first);
    long fnv = 0xcbf29ce484222325L;
    Unsigned16 sum = new Unsigned16();
    CRC32 crc = new CRC32();
    for (int i = 0; i < n; i++) {
      byte[] record = rows.next(ascii);
      for (byte b : record) {
        fnv = (fnv ^ (b & 255)) * 0x100000001b3L;
      }
      crc.reset();
      crc.update(record);
      sum.add(new Unsigned16(crc.getValue()));
    }
    String what = n + (ascii ? " ascii" : "") + " rows from " + first;
    System.out.println("fnv of " + what + ": 0x" + Long.toHexString(fnv));
    if (!ascii) {
      System.out.println("sum of " + what + ": " + sum);
    }
  }

  public static void main(String[] args) {
    long[] far = {0, 1, 2, 999_999, 10_000_000_000L, Long.MAX_VALUE};
    for (long row : far) {
      System.out.println("row " + row + ": " + hex(new Rows(row).next(false)));
    }
    for (long row : far) {
      // The last two bytes are CR LF in Hadoop but not in Yunti.
      System.out.println("ascii row " + row + ": " + new String(new Rows(row).next(true), 0, 98));
    }
    run(0, 100_000, false);
    run(10_000_000_000L - 500, 1000, false);
    run(0, 100_000, true);
  }
}
