package org.yunti.hadoop.runner;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/** Settings of the framework {@code yunti}. */
public final class RunnerSettings {
  /** Number of tasks that run at the same time in this JVM; by default the number of its processors. */
  public static final String SLOTS = "yunti.hadoop.slots";

  /** Where tasks run: {@link #THREADS}, {@link #JVMS} or {@link #AUTO}, the default. */
  public static final String ISOLATION = "yunti.hadoop.isolation";
  /** Tasks in threads of the program's JVM, with class loaders of their own. */
  public static final String THREADS = "threads";
  /** Tasks in JVMs of their own. */
  public static final String JVMS = "jvms";
  /** Threads, unless the job's code needs a JVM. */
  public static final String AUTO = "auto";

  // Hadoop's defaults are 1 s and 5 s, for a client that asks over a network. Here the answer itself waits a little.
  private static final int COMPLETION_POLL_MS = 1;
  private static final int PROGRESS_POLL_MS = 10;

  private RunnerSettings() {}

  /** Lets a client ask more often, if its user does not say how often. */
  static void adjustClient(Configuration conf) {
    setIfHadoops(conf, Job.COMPLETION_POLL_INTERVAL_KEY, COMPLETION_POLL_MS);
    setIfHadoops(conf, Job.PROGRESS_MONITOR_POLL_INTERVAL_KEY, PROGRESS_POLL_MS);
  }

  private static void setIfHadoops(Configuration conf, String key, int value) {
    if (isFrom(conf, key, "-default.xml") || conf.get(key) == null) {
      conf.setInt(key, value);
    }
  }

  /** Returns true if a setting comes from a file of this kind: {@code -default.xml} or {@code -site.xml}. */
  public static boolean isFrom(Configuration conf, String key, String kind) {
    String[] sources = conf.getPropertySources(key);
    return sources != null && sources.length > 0 && sources[0].endsWith(kind);
  }

  /** Returns where tasks run. Throws IOException if the setting is none of the three. */
  public static String isolation(Configuration conf) throws IOException {
    String value = conf.getTrimmed(ISOLATION, AUTO);
    if (!value.equals(THREADS) && !value.equals(JVMS) && !value.equals(AUTO)) {
      throw new IOException(ISOLATION + " is " + value + ": set " + AUTO + ", " + THREADS + " or " + JVMS);
    }
    return value;
  }

  /** Returns the number of tasks that run at the same time. */
  public static int slots(Configuration conf) {
    return Math.max(1, conf.getInt(SLOTS, Runtime.getRuntime().availableProcessors()));
  }
}
