package org.yunti.hadoop.collect;

import java.io.IOException;
import org.apache.hadoop.mapred.Reporter;

/** Tells Hadoop of progress while the task's own thread is in one long native call. No progress there is none told here. */
final class ProgressTicker {
  private static final long PERIOD_MS = 1000;

  private final Thread thread;

  ProgressTicker(long handle, Reporter reporter) {
    thread = new Thread(() -> tick(handle, reporter), "yunti progress");
    thread.setDaemon(true);
    thread.start();
  }

  private static void tick(long handle, Reporter reporter) {
    long before = -1;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        long now = NativeMapOutput.ticks(handle);
        if (now != before) {
          reporter.progress();
          before = now;
        }
        Thread.sleep(PERIOD_MS);
      }
    } catch (InterruptedException | IOException e) {
      // The call is over.
      return;
    }
  }

  /** Returns when nothing is told any more: the handle may be closed then. */
  void close() {
    thread.interrupt();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
