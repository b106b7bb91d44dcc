package java.lang.foreign;

/**
 * A signature of Java 22 for the compiler: JDK 17 compiles the reader with {@code --release 8}. The jar leaves it out.
 */
public interface Arena extends AutoCloseable {
  static Arena ofShared() {
    throw new UnsupportedOperationException();
  }

  @Override
  void close();
}
