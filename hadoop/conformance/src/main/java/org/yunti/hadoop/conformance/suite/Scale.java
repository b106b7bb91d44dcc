package org.yunti.hadoop.conformance.suite;

/**
 * How much larger than it is the input of a case is made, where processor time is measured: a job of two thousand records is
 * all fixed cost.
 *
 * @param factor records for each one of the case
 */
public record Scale(int factor) {
  public static final Scale NONE = new Scale(1);

  /** Of one file: what does not spill at the case's own size must not spill at a larger one either. */
  private static final long BYTES_MAX = 16 << 20;

  private static final int RECORDS_MAX = 400_000;

  /** What a program is told that makes its input itself. */
  public long records(int own) {
    return Math.max(own, Math.min((long) own * factor, RECORDS_MAX));
  }

  /** Whether a file of {@code own} records at the case's own size, which has {@code written} records and {@code bytes}, gets another. */
  public boolean more(int own, int written, long bytes) {
    return written < own || written < records(own) && bytes < BYTES_MAX;
  }
}
