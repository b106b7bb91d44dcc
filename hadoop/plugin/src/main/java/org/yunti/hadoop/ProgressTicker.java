package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.mapred.Reporter;

/**
 * Thread that reports progress to Hadoop while the task's own thread is in one long native call. It reports once a
 * second, and only if the native code made progress.
 */
public final class ProgressTicker {
  private static final long PERIOD_MS = 1000;

  private final Thread thread;

  /** Counter that grows while there is progress. */
  public interface Ticks {
    long now() throws IOException;
  }

  public ProgressTicker(Ticks ticks, Reporter reporter) {
    thread = new Thread(() -> tick(ticks, reporter), "yunti progress");
    thread.setDaemon(true);
    thread.start();
  }

  private static void tick(Ticks ticks, Reporter reporter) {
    long before = -1;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        long now = ticks.now();
        if (now != before) {
          reporter.progress();
          before = now;
        }
        Thread.sleep(PERIOD_MS);
      }
    } catch (InterruptedException | IOException e) {
      // The native call has ended.
      return;
    }
  }

  /** Stops the thread and waits for its end. The caller may close the source of {@code ticks} afterwards. */
  public void stop() {
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
