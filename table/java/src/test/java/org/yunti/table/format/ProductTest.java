package org.yunti.table.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigInteger;
import java.util.Random;

import org.junit.jupiter.api.Test;

/** Upper halves of products against BigInteger, in the way of each Java. */
class ProductTest {
  private static final long[] EDGES = {0, 1, 2, 0xffff_ffffL, 0x1_0000_0000L, Long.MAX_VALUE, Long.MIN_VALUE, -1, -2};

  @Test
  void allWaysGiveTheProduct() {
    Random random = new Random(3);
    for (int i = 0; i < 100_000; i++) {
      check(random.nextLong() >>> random.nextInt(64), random.nextLong() >>> random.nextInt(64));
    }
    for (long a : EDGES) {
      for (long b : EDGES) {
        check(a, b);
      }
    }
  }

  private static void check(long a, long b) {
    long expected = unsigned(a).multiply(unsigned(b)).shiftRight(64).longValue();
    assertEquals(expected, Product.high(a, b), a + " * " + b);
    assertEquals(expected, Product.highOfSigned(a, b), a + " * " + b);
    assertEquals(expected, Product.highOfHalves(a, b), a + " * " + b);
  }

  private static BigInteger unsigned(long number) {
    return new BigInteger(Long.toUnsignedString(number));
  }
}
