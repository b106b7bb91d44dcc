package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.mapred.Reporter;

/** Tells Hadoop of progress while the task's own thread is in one long native call. No progress there is none told here. */
public final class ProgressTicker {
  private static final long PERIOD_MS = 1000;

  private final Thread thread;

  /** A number that grows while there is progress. */
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
      // The call is over.
      return;
    }
  }

  /** Returns when nothing is told any more: what {@code ticks} asks may be closed then. */
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
