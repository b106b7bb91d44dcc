package org.yunti.hadoop.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.counters.LimitExceededException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stopwatch of one task attempt. What it measured becomes counters when the task ends: the stages, which lie side by side in time,
 * and their frame, {@code TOTAL}. Stages of native tasks, and the parts of Java tasks that native code alone can tell apart, are
 * measured there (task.rs of the engine) and counted in the same group.
 *
 * <p>Clocks are read once a batch of records, never once a record.
 */
public final class TaskTime {
  /** The group of the counters. */
  public static final String COUNTERS = "Yunti time, ms";

  /** Whether they are counted. False: for a job that itself has nearly as many counters as {@code mapreduce.job.counters.max} allows. */
  static final String SETTING = "yunti.hadoop.times";

  /** What a counter measures. */
  public enum Stage {
    /** From the start of the JVM until records can flow. */
    JVM_START,
    MAP,
    COLLECT,
    SPILL,
    SORT,
    /** Until the last map output is there; waiting for map tasks that run yet is a part of it. */
    SHUFFLE,
    MERGE,
    REDUCE,
    WRITE,
    /** From the start of the JVM to the end of the task. */
    TOTAL,
    /** Processor time of the JVM since its start. */
    CPU
  }

  private static final long HALF_MS = 500_000;
  /** Of /proc/self/stat, behind the program's name; the system time is next. */
  private static final int USER_TIME = 11;
  /** Linux counts in hundredths of a second for programs, on every platform of ours. */
  private static final long TICK_NS = 10_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(TaskTime.class);

  /** By their names within the group. */
  private final Function<String, Counter> counters;

  private final boolean counted;
  private final Map<Stage, Long> sums = new EnumMap<>(Stage.class);
  private final long begin;
  private long last;
  /** Of the lap that goes on, what other stages have of it. */
  private long within;

  private boolean ended;

  /** Begins with {@link Stage#JVM_START}, which {@link #lap} ends. */
  public TaskTime(Reporter reporter, Configuration conf) {
    this(name -> reporter.getCounter(COUNTERS, name), conf);
  }

  /** The same of a task whose counters come from elsewhere. */
  public TaskTime(Function<String, Counter> counters, Configuration conf) {
    this.counters = counters;
    counted = conf.getBoolean(SETTING, true);
    begin = System.nanoTime() - (ownsJvm() ? TimeUnit.MILLISECONDS.toNanos(uptimeMs()) : 0);
    last = begin;
  }

  /** What the counters of an attempt say that it took; 0: nothing. */
  static long total(Counters counters) {
    return counters == null ? 0 : counters.findCounter(COUNTERS, Stage.TOTAL.name()).getValue();
  }

  /** Time of a stage that no stopwatch is at. */
  public static void count(Function<String, Counter> counters, Stage stage, long ns) {
    if (ns >= HALF_MS) {
      counters.apply(stage.name()).increment(Math.round(ns / 1e6));
    }
  }

  /** Whether the JVM was started for this task: one within an application master or a local job has others in it too. */
  private static boolean ownsJvm() {
    return System.getProperty("sun.java.command", "").startsWith("org.apache.hadoop.mapred.YarnChild");
  }

  private static long uptimeMs() {
    return ManagementFactory.getRuntimeMXBean().getUptime();
  }

  /** What went by since the last lap belongs to {@code stage}, but for what {@link #within} has told. */
  public synchronized void lap(Stage stage) {
    long now = System.nanoTime();
    if (stage != Stage.JVM_START || ownsJvm()) {
      add(stage, Math.max(0, now - last - within));
    }
    last = now;
    within = 0;
  }

  /** Time of another stage within the present lap; of any thread. */
  public synchronized void within(Stage stage, long ns) {
    add(stage, ns);
    within += ns;
  }

  private void add(Stage stage, long ns) {
    if (ns != 0) {
      sums.merge(stage, ns, Long::sum);
    }
  }

  /** So much of {@code from}, and no more than it has, was {@code to}. */
  public synchronized void move(Stage from, Stage to, long ns) {
    long moved = Math.max(0, Math.min(ns, sums.getOrDefault(from, 0L)));
    add(from, -moved);
    add(to, moved);
  }

  /** The task is at its end: counts. What went by since the last lap is the stages' that others measure. */
  public synchronized void end() {
    if (ended || !counted) {
      return;
    }
    ended = true;
    add(Stage.TOTAL, System.nanoTime() - begin);
    if (ownsJvm()) {
      add(Stage.CPU, cpuNs());
    }
    try {
      sums.forEach((stage, ns) -> counters.apply(stage.name()).increment(Math.round(ns / 1e6)));
    } catch (LimitExceededException e) {
      LOG.info("Yunti counts no times: {}", e.getMessage());
    }
  }

  /** User and system time; 0 where it is not to be had. The JVM's own bean for it takes 20 ms to load. */
  private static long cpuNs() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      // The name of the program is in parentheses and may be anything.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1])) * TICK_NS;
    } catch (IOException | RuntimeException e) {
      return 0;
    }
  }
}
