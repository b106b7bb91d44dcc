package org.yunti.web.example;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time per page of the current thread, independent of the machine's other load. */
final class CpuTime {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long WARM_NANOS = 400_000_000;
  private static final long MEASURED_NANOS = 400_000_000;

  private CpuTime() {}

  /** Rendering of one page. */
  interface Rendering {
    void run() throws IOException;
  }

  /** Returns microseconds per page, after a warm-up. */
  static double micros(Rendering rendering) throws IOException {
    run(rendering, WARM_NANOS);
    return run(rendering, MEASURED_NANOS);
  }

  private static double run(Rendering rendering, long nanos) throws IOException {
    long start = THREADS.getCurrentThreadCpuTime();
    long spent;
    int pages = 0;
    do {
      rendering.run();
      pages++;
      spent = THREADS.getCurrentThreadCpuTime() - start;
    } while (spent < nanos);
    return spent / 1000.0 / pages;
  }
}
