package org.yunti.hadoop.conformance.suite;

/**
 * Enlargement of a case's input for processor-time measurements: a job of two thousand records is all fixed cost.
 *
 * @param factor records for each record of the case
 */
public record Scale(int factor) {
  public static final Scale NONE = new Scale(1);

  /** Bytes of one file: a case that does not spill at scale 1 must not spill when enlarged. */
  private static final long BYTES_MAX = 16 << 20;

  private static final int RECORDS_MAX = 400_000;

  /** Returns the number of records for a program that generates its own input. */
  public long records(int own) {
    return Math.max(own, Math.min((long) own * factor, RECORDS_MAX));
  }

  /**
   * Returns true if a file needs another record: {@code own} records at scale 1, {@code written} records and {@code
   * bytes} so far.
   */
  public boolean more(int own, int written, long bytes) {
    return written < own || written < records(own) && bytes < BYTES_MAX;
  }
}
