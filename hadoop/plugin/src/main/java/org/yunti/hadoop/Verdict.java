package org.yunti.hadoop;

import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Report, by one counter and one log line, that native code serves a task or why it does not. */
public final class Verdict {
  /** Counter group. Its counters are {@code native} and {@code declined: REASON}, in tasks. */
  public static final String COUNTERS = "Yunti";

  private static final Logger LOG = LoggerFactory.getLogger(Verdict.class);

  private Verdict() {}

  /** Counts and logs that native code serves {@code what}. */
  public static void nativeCode(Reporter reporter, String what) {
    nativeCode(reporter.getCounter(COUNTERS, "native"), what);
  }

  /** Counts and logs the same for a task without a reporter. */
  public static void nativeCode(TaskInputOutputContext<?, ?, ?, ?> context, String what) {
    nativeCode(context.getCounter(COUNTERS, "native"), what);
  }

  private static void nativeCode(Counter counter, String what) {
    counter.increment(1);
    LOG.info("Yunti serves {} natively", what);
  }

  /** Counts and logs that native code declines {@code what}; returns the reason. */
  public static String declined(Reporter reporter, String what, Throwable why) {
    String reason = why instanceof Declined ? why.getMessage() : String.valueOf(why);
    reporter.getCounter(COUNTERS, "declined: " + reason).increment(1);
    if (why instanceof Declined) {
      LOG.info("Yunti declines {}: {}", what, reason);
    } else {
      LOG.warn("Yunti declines {}: {}", what, reason, why);
    }
    return reason;
  }
}
