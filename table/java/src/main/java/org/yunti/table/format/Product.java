package org.yunti.table.format;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The upper half of unsigned products of 128 bits: {@code Math.unsignedMultiplyHigh} of Java 18, which is one
 * instruction; {@code Math.multiplyHigh} of Java 9 with a correction of the sign; four products on Java 8. Handles that
 * are constants are inlined; Java 8 as a target has none of these methods in its signatures.
 */
public final class Product {
  private static final MethodType TYPE = MethodType.methodType(long.class, long.class, long.class);
  private static final MethodHandle SIGNED = builtIn("multiplyHigh");
  private static final MethodHandle HIGH = best();

  private Product() {
  }

  private static MethodHandle builtIn(String name) {
    try {
      return MethodHandles.publicLookup().findStatic(Math.class, name, TYPE);
    } catch (ReflectiveOperationException laterJava) {
      return null;
    }
  }

  private static MethodHandle best() {
    MethodHandle unsigned = builtIn("unsignedMultiplyHigh");
    if (unsigned != null) {
      return unsigned;
    }
    try {
      return MethodHandles.lookup().findStatic(Product.class, SIGNED == null ? "highOfHalves" : "highOfSigned", TYPE);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the upper half of a product. */
  public static long high(long a, long b) {
    try {
      return (long) HIGH.invokeExact(a, b);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Returns the upper half of a product by the signed one: Java 9 and later. */
  static long highOfSigned(long a, long b) {
    try {
      return (long) SIGNED.invokeExact(a, b) + (a >> 63 & b) + (b >> 63 & a);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Returns the upper half of a product by products of halves: each Java. */
  static long highOfHalves(long a, long b) {
    long mask = 0xffff_ffffL;
    long middle = (a >>> 32) * (b & mask) + ((a & mask) * (b & mask) >>> 32);
    long other = (a & mask) * (b >>> 32) + (middle & mask);
    return (a >>> 32) * (b >>> 32) + (middle >>> 32) + (other >>> 32);
  }

  private static Error unchecked(Throwable e) {
    return e instanceof Error ? (Error) e : new AssertionError(e);
  }
}
