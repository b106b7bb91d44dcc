package org.yunti.web.bench.measure;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * Meter of the processor time and heap of one iteration's operations, in the thread that runs them. It includes
 * operations that JMH leaves out of its window.
 */
public final class OperationMeter {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  /** Reading of the last iteration; JMH's own threads read it. */
  private static volatile Reading last;

  private long operations;
  private long cpuBefore;
  private long bytesBefore;
  private long processBefore;

  /**
   * Reading of an iteration.
   *
   * @param cpuNanos processor time of the thread per operation, in ns
   * @param bytes bytes allocated per operation
   * @param processNanos processor time of the whole JVM per operation, in ns, with compiler and collector
   */
  public record Reading(double cpuNanos, double bytes, double processNanos) {}

  public void begin() {
    operations = 0;
    bytesBefore = THREADS.getCurrentThreadAllocatedBytes();
    processBefore = SYSTEM.getProcessCpuTime();
    cpuBefore = THREADS.getCurrentThreadCpuTime();
  }

  public void count() {
    operations++;
  }

  public void end() {
    double cpu = THREADS.getCurrentThreadCpuTime() - cpuBefore;
    double process = SYSTEM.getProcessCpuTime() - processBefore;
    double bytes = THREADS.getCurrentThreadAllocatedBytes() - bytesBefore;
    last = new Reading(cpu / operations, bytes / operations, process / operations);
  }

  static Reading last() {
    return last;
  }
}
