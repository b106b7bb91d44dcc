package org.yunti.hadoop.runner.job;

import java.util.concurrent.Semaphore;

/** Tasks that may run at the same time in this JVM, over all its jobs. */
final class Slots {
  private static final int UNSET = -1;
  private static final Semaphore FREE = new Semaphore(0, true);
  private static int size = UNSET;

  private Slots() {}

  /** Sets the number of slots. The largest number that a job of this JVM wants holds for all. */
  static synchronized void want(int slots) {
    int before = Math.max(size, 0);
    if (slots > before) {
      FREE.release(slots - before);
      size = slots;
    }
  }

  static void acquire() throws InterruptedException {
    FREE.acquire();
  }

  static void release() {
    FREE.release();
  }
}
