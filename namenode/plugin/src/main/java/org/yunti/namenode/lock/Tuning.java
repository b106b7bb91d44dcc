package org.yunti.namenode.lock;

/**
 * Trade-off of a {@link PhasedLock} between throughput and waiting times.
 *
 * @param writersMax writers in one phase, from 1: a waiting reader waits for this many at most
 * @param overtakesMax running writers that may overtake the one that has waited longest, from 0
 * @param isPhaseFair true if readers that arrive while a writer waits enter after it; else they enter until it is
 *     woken, which costs less
 */
public record Tuning(int writersMax, int overtakesMax, boolean isPhaseFair) {
  /** Checks the ranges. */
  public Tuning {
    if (writersMax < 1 || overtakesMax < 0) {
      throw new IllegalArgumentException(
          "writersMax is " + writersMax + ", give 1 or more; overtakesMax is " + overtakesMax + ", give 0 or more");
    }
  }

  /** Named tunings. */
  public enum Preset {
    /** Running writers often overtake waiting ones: fewest context switches. */
    THROUGHPUT(64, 16, false),
    /** Writers overtake rarely and wait for fewer readers. */
    BALANCED(64, 2, true);

    private final Tuning tuning;

    Preset(int writersMax, int overtakesMax, boolean isPhaseFair) {
      tuning = new Tuning(writersMax, overtakesMax, isPhaseFair);
    }

    /** Returns the tuning. */
    public Tuning tuning() {
      return tuning;
    }
  }
}
