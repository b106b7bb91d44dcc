package org.yunti.hadoop.conformance.runner;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.spi.LoggingEvent;
import org.apache.hadoop.mapred.LocalJobRunner;
import org.apache.log4j.Logger;

/**
 * Causes of failed local jobs. LocalJobRunner keeps no diagnostics: it logs the exception under the job's name, and
 * otherwise reports only the failure.
 */
final class TaskFailures extends AppenderSkeleton {
  private static final long WAIT_MS_MAX = 10_000;

  private final Map<String, List<String>> causes = new HashMap<>();

  static TaskFailures listening() {
    TaskFailures failures = new TaskFailures();
    Logger.getLogger(LocalJobRunner.class).addAppender(failures);
    return failures;
  }

  /**
   * Waits for the log of a failed job: a job is marked as failed shortly before its exception is logged.
   *
   * @return the exceptions from the outermost, as {@code CLASS: MESSAGE}; empty if unknown
   */
  synchronized List<String> of(String job) throws InterruptedException {
    long end_ms = System.currentTimeMillis() + WAIT_MS_MAX;
    for (long left_ms = WAIT_MS_MAX; !causes.containsKey(job) && left_ms > 0;
        left_ms = end_ms - System.currentTimeMillis()) {
      wait(left_ms);
    }
    return causes.getOrDefault(job, List.of());
  }

  private synchronized void add(String job, List<String> chain) {
    causes.put(job, chain);
    notifyAll();
  }

  @Override
  protected void append(LoggingEvent event) {
    if (event.getThrowableInformation() == null) {
      return;
    }
    List<String> chain = new ArrayList<>();
    Throwable failure = event.getThrowableInformation().getThrowable();
    // The outermost Exception is LocalJobRunner's own wrapper.
    for (Throwable t = failure.getCause() == null ? failure : failure.getCause(); t != null; t = t.getCause()) {
      chain.add(t.toString());
    }
    add(String.valueOf(event.getMessage()), chain);
  }

  @Override
  public void close() {
    Logger.getLogger(LocalJobRunner.class).removeAppender(this);
  }

  @Override
  public boolean requiresLayout() {
    return false;
  }
}
