package java.lang.foreign;

/**
 * A signature of Java 22 for the compiler: JDK 17 compiles the reader with {@code --release 8}. The jar leaves it out.
 */
@SuppressWarnings("overloads")
public interface MemorySegment {
  byte get(ValueLayout.OfByte layout, long offset);

  short get(ValueLayout.OfShort layout, long offset);

  int get(ValueLayout.OfInt layout, long offset);

  long get(ValueLayout.OfLong layout, long offset);

  static void copy(MemorySegment source, ValueLayout layout, long offset, Object target, int index, int count) {
    throw new UnsupportedOperationException();
  }
}
