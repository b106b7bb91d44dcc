package org.yunti.hadoop.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
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
 * Stopwatch of one task attempt. At the end of the task its times become counters: disjoint stages, and their frame,
 * {@code TOTAL}. Native code measures the stages of native tasks, and parts of Java tasks that only it can separate
 * (task.rs of the engine). These are counted in the same group.
 *
 * <p>Clocks are read once per batch of records, never once per record.
 */
public final class TaskTime {
  /** Counter group. */
  public static final String COUNTERS = "Yunti time, ms";

  /**
   * Job setting, default true. Turn it off for a job with nearly as many counters as {@code mapreduce.job.counters.max}
   * allows.
   */
  static final String SETTING = "yunti.hadoop.times";

  /** Stage that a counter measures. */
  public enum Stage {
    /** Time from the start of the JVM until records can flow. */
    JVM_START,
    MAP,
    COLLECT,
    SPILL,
    SORT,
    /** Time until the last map output is fetched, including the wait for running map tasks. */
    SHUFFLE,
    MERGE,
    REDUCE,
    WRITE,
    /** Time from the start of the JVM to the end of the task. */
    TOTAL,
    /** Processor time of the JVM since its start. */
    CPU
  }

  private static final long HALF_MS = 500_000;
  /** Index of the user time in /proc/self/stat, counted after the program's name; the system time follows it. */
  private static final int USER_TIME = 11;
  /** Nanoseconds of a clock tick: Linux reports process times in hundredths of a second on all supported platforms. */
  private static final long TICK_NS = 10_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(TaskTime.class);

  /** Lookup of a counter by its name within the group. */
  private final Function<String, Counter> counters;

  private final boolean counted;
  private final Map<Stage, Long> sums = new EnumMap<>(Stage.class);
  private final long begin;
  private long last;
  /** Nanoseconds of the current lap that belong to other stages. */
  private long within;

  private boolean ended;

  /** Starts the stopwatch in {@link Stage#JVM_START}, which {@link #lap} ends. */
  public TaskTime(Reporter reporter, Configuration conf) {
    this(name -> reporter.getCounter(COUNTERS, name), conf);
  }

  /** Starts the stopwatch of a task without a reporter. */
  public TaskTime(Function<String, Counter> counters, Configuration conf) {
    this.counters = counters;
    counted = conf.getBoolean(SETTING, true);
    begin = System.nanoTime() - (ownsJvm() ? TimeUnit.MILLISECONDS.toNanos(uptimeMs()) : 0);
    last = begin;
  }

  /** Returns the total time of an attempt in milliseconds from its counters; 0 if unknown. */
  static long total(Counters counters) {
    return counters == null ? 0 : counters.findCounter(COUNTERS, Stage.TOTAL.name()).getValue();
  }

  /** Returns the processor time of the processes of all tasks with these counters, in milliseconds. */
  public static long cpuMs(Counters counters) {
    return counters.findCounter(COUNTERS, Stage.CPU.name()).getValue();
  }

  /** Counts the time of a stage that is measured without a stopwatch. */
  public static void count(Function<String, Counter> counters, Stage stage, long ns) {
    if (ns >= HALF_MS) {
      counters.apply(stage.name()).increment(Math.round(ns / 1e6));
    }
  }

  /**
   * Returns true if the JVM was started for this task. The JVM of an application master or a local job also runs
   * others.
   */
  private static boolean ownsJvm() {
    return System.getProperty("sun.java.command", "").startsWith("org.apache.hadoop.mapred.YarnChild");
  }

  private static long uptimeMs() {
    return ManagementFactory.getRuntimeMXBean().getUptime();
  }

  /** Ends a lap: the time since the last one belongs to {@code stage}, except the time given to {@link #within}. */
  public synchronized void lap(Stage stage) {
    long now = System.nanoTime();
    if (stage != Stage.JVM_START || ownsJvm()) {
      add(stage, Math.max(0, now - last - within));
    }
    last = now;
    within = 0;
  }

  /** Attributes a part of the current lap to another stage. Any thread may call it. */
  public synchronized void within(Stage stage, long ns) {
    add(stage, ns);
    within += ns;
  }

  private void add(Stage stage, long ns) {
    if (ns != 0) {
      sums.merge(stage, ns, Long::sum);
    }
  }

  /** Moves {@code ns} from one stage to another, at most the time that {@code from} has. */
  public synchronized void move(Stage from, Stage to, long ns) {
    long moved = Math.max(0, Math.min(ns, sums.getOrDefault(from, 0L)));
    add(from, -moved);
    add(to, moved);
  }

  /** Ends the task and writes the counters. The time since the last lap belongs to stages measured elsewhere. */
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

  /** Returns user and system time; 0 if unavailable. The JVM's own bean takes 20 ms to load. */
  private static long cpuNs() {
    try {
      String stat = new String(Files.readAllBytes(Paths.get("/proc/self/stat")), StandardCharsets.UTF_8);
      // The program's name is in parentheses and may contain any character.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1])) * TICK_NS;
    } catch (IOException | RuntimeException e) {
      return 0;
    }
  }
}
