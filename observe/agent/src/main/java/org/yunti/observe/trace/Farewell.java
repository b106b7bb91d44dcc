package org.yunti.observe.trace;

/** A JVM that exits waits some moments until what it did at last is told. */
final class Farewell implements AutoCloseable {
  private static final int MILLIS_MAX = 500;

  private final Thread hook = new Thread(this::waits, "yunti-trace");
  private volatile boolean isExiting;
  private volatile boolean isTold;

  Farewell() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void waits() {
    isExiting = true;
    try {
      for (int i = 0; i < MILLIS_MAX && !isTold; i++) {
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      // It is in a hurry.
    }
  }

  boolean isExiting() {
    return isExiting;
  }

  /** All that there was when it began to exit has been written. */
  void told() {
    isTold = true;
  }

  @Override
  public void close() {
    isTold = true;
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It exits.
    }
  }
}
