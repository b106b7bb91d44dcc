package java.lang.foreign;

import java.nio.ByteOrder;

/** A signature for the compiler. */
public interface ValueLayout {
  OfByte JAVA_BYTE = null;
  OfShort JAVA_SHORT_UNALIGNED = null;
  OfInt JAVA_INT_UNALIGNED = null;
  OfLong JAVA_LONG_UNALIGNED = null;

  /** A signature for the compiler. */
  interface OfByte extends ValueLayout {
  }

  /** A signature for the compiler. */
  interface OfShort extends ValueLayout {
    OfShort withOrder(ByteOrder order);
  }

  /** A signature for the compiler. */
  interface OfInt extends ValueLayout {
    OfInt withOrder(ByteOrder order);
  }

  /** A signature for the compiler. */
  interface OfLong extends ValueLayout {
    OfLong withOrder(ByteOrder order);
  }
}
