package org.yunti.hadoop.runner.task;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.yunti.hadoop.runner.attempt.AttemptReporter;
import org.yunti.hadoop.runner.counted.ThreadStatistics;

/**
 * Processor time of an attempt and its use of file systems, for its counters.
 *
 * <p>Hadoop's figures are those of the JVM, in which other tasks run and ran. These are the figures of the attempt's
 * thread.
 */
final class AttemptCosts {
  private static final FileSystemCounter[] COUNTERS = {
    FileSystemCounter.BYTES_READ, FileSystemCounter.BYTES_WRITTEN, FileSystemCounter.READ_OPS,
    FileSystemCounter.LARGE_READ_OPS, FileSystemCounter.WRITE_OPS
  };

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Map<String, long[]> before = new LinkedHashMap<>();
  private long cpu_ns;

  /** Notes the state of the present thread. */
  void begin() {
    cpu_ns = cpuNow();
    for (Map.Entry<String, ThreadStatistics> scheme : ThreadStatistics.ofAll().entrySet()) {
      before.put(scheme.getKey(), scheme.getValue().snapshot());
    }
  }

  /** Sets the counters, in place of Hadoop's figures. */
  void end(AttemptReporter reporter) {
    reporter.getCounter(TaskCounter.CPU_MILLISECONDS).setValue((cpuNow() - cpu_ns) / 1_000_000);
    for (Map.Entry<String, ThreadStatistics> scheme : ThreadStatistics.ofAll().entrySet()) {
      long[] now = scheme.getValue().snapshot();
      long[] first = before.getOrDefault(scheme.getKey(), new long[now.length]);
      for (int i = 0; i < now.length; i++) {
        String name = scheme.getKey().toUpperCase(Locale.ROOT) + "_" + COUNTERS[i].name();
        reporter.getCounter(FileSystemCounter.class.getName(), name).setValue(now[i] - first[i]);
      }
    }
  }

  private long cpuNow() {
    return threads.isCurrentThreadCpuTimeSupported() ? threads.getCurrentThreadCpuTime() : 0;
  }
}
