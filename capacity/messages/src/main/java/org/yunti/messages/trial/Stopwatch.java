package org.yunti.messages.trial;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Times one operation on one message, in the manner of JMH: rounds after a warm-up, all messages in turn, results that
 * escape. The forks are JVMs of the observer. The time is the thread's processor time, because the service runs beside
 * it on the same processors. Collections of garbage are not in it; the bytes allocated stand for them.
 */
final class Stopwatch {
  private static final int ROUNDS = 5;
  /** Part of the time for the warm-up. */
  private static final double WARM_UP = 0.5;

  /** Longest time of a round, as a multiple of its processor time. */
  private static final int WALL_MAX = 4;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  /** Results end here, so that the compiler cannot remove the work. */
  private static final Object[] HOLE = new Object[64];

  /** An operation on the message of a number. */
  interface Operation {
    Object run(int message) throws Exception;
  }

  private Stopwatch() {}

  /** Runs the operation for the warm-up of a time. */
  static void warmUp(Operation operation, int messages, long millis) throws Exception {
    rounds(operation, messages, (long) (millis * 1e6 * WARM_UP), 1);
  }

  /** Returns nanoseconds of an operation by round, and bytes that it allocates. */
  static Map<String, Object> time(Operation operation, int messages, long millis) throws Exception {
    long nanos = (long) (millis * 1e6 * (1 - WARM_UP));
    long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    double[] rounds = new double[ROUNDS];
    long count = 0;
    for (int i = 0; i < ROUNDS; i++) {
      double[] round = rounds(operation, messages, nanos / ROUNDS, messages);
      rounds[i] = round[0];
      count += (long) round[1];
    }
    long allocated = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("rounds", Arrays.stream(rounds).boxed().toList());
    map.put("allocated_bytes", (double) allocated / count);
    return map;
  }

  /** Returns nanoseconds an operation, and the operations. Whole turns of {@code turn} messages are counted. */
  private static double[] rounds(Operation operation, int messages, long nanos, int turn) throws Exception {
    long end = System.nanoTime() + nanos * WALL_MAX;
    long begun = THREADS.getCurrentThreadCpuTime();
    long now = begun;
    long count = 0;
    do {
      for (int i = 0; i < turn; i++) {
        HOLE[(int) count & HOLE.length - 1] = operation.run((int) (count % messages));
        count++;
      }
      now = THREADS.getCurrentThreadCpuTime();
    } while (now - begun < nanos && System.nanoTime() - end < 0);
    return new double[] {(double) (now - begun) / count, count};
  }
}
