package org.yunti.web.example;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time a page takes: of this thread, so that what else the machine does is not in it. */
final class CpuTime {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long WARM_NANOS = 400_000_000;
  private static final long MEASURED_NANOS = 400_000_000;

  private CpuTime() {}

  /** Makes one page. */
  interface Rendering {
    void run() throws IOException;
  }

  /** Microseconds a page, behind a while of warming up. */
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
