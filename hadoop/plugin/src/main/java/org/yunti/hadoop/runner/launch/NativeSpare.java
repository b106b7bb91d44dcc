package org.yunti.hadoop.runner.launch;

import java.io.IOException;

/** Native half of {@link Spare}. */
final class NativeSpare {
  private NativeSpare() {}

  /**
   * Reports that this JVM waits, and waits until it becomes a program: its standard streams are then the program's.
   *
   * @return the arguments, each with a zero byte behind it
   */
  static native byte[] await() throws IOException;
}
