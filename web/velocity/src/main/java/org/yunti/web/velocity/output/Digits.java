package org.yunti.web.velocity.output;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Decimal digits of integers, two at a time. */
final class Digits {
  private static final VarHandle TWO = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  /** ASCII pairs from 00 to 99, the first digit in the lower byte. */
  private static final short[] PAIRS = new short[100];
  private static final int EIGHT_DIGITS = 100_000_000;
  private static final int FOUR_DIGITS = 10_000;

  static {
    for (int i = 0; i < PAIRS.length; i++) {
      PAIRS[i] = (short) ('0' + i / 10 | '0' + i % 10 << Byte.SIZE);
    }
  }

  private Digits() {}

  /** Writes a number of 0 or more and returns the end of its digits. {@code to} needs room for 19 bytes. */
  static int write(long number, byte[] to, int at) {
    if (number < EIGHT_DIGITS) {
      return write((int) number, to, at);
    }
    long upper = number / EIGHT_DIGITS;
    int end = write(upper, to, at);
    int lower = (int) (number - upper * EIGHT_DIGITS);
    four(lower / FOUR_DIGITS, to, end);
    four(lower % FOUR_DIGITS, to, end + 4);
    return end + 8;
  }

  private static void four(int number, byte[] to, int at) {
    TWO.set(to, at, PAIRS[number / 100]);
    TWO.set(to, at + 2, PAIRS[number % 100]);
  }

  /** Writes a number of at most eight digits. */
  private static int write(int number, byte[] to, int at) {
    int end = at + length(number);
    int place = end;
    int rest = number;
    while (rest >= 100) {
      place -= 2;
      int hundreds = rest / 100;
      TWO.set(to, place, PAIRS[rest - hundreds * 100]);
      rest = hundreds;
    }
    if (rest >= 10) {
      TWO.set(to, at, PAIRS[rest]);
    } else {
      to[at] = (byte) ('0' + rest);
    }
    return end;
  }

  /** Returns the number of digits of a number below {@link #EIGHT_DIGITS}. */
  private static int length(int number) {
    if (number < FOUR_DIGITS) {
      return number < 100 ? number < 10 ? 1 : 2 : number < 1_000 ? 3 : 4;
    }
    return number < 1_000_000 ? number < 100_000 ? 5 : 6 : number < 10_000_000 ? 7 : 8;
  }
}
