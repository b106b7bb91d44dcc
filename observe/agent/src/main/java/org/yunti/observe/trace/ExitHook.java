package org.yunti.observe.trace;

/** A shutdown hook that delays the JVM's exit until its last calls are sent, for at most half a second. */
final class ExitHook implements AutoCloseable {
  private static final int MILLIS_MAX = 500;

  private final Thread hook = new Thread(this::waitUntilSent, "yunti-trace");
  private volatile boolean isExiting;
  private volatile boolean isSent;

  ExitHook() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void waitUntilSent() {
    isExiting = true;
    try {
      for (int i = 0; i < MILLIS_MAX && !isSent; i++) {
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      // The JVM exits at once.
    }
  }

  boolean isExiting() {
    return isExiting;
  }

  /** Lets the JVM exit, because all calls up to the begin of the exit are written. */
  void markSent() {
    isSent = true;
  }

  @Override
  public void close() {
    isSent = true;
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is already exiting.
    }
  }
}
