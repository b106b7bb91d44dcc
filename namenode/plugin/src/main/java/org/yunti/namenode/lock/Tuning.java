package org.yunti.namenode.lock;

/**
 * Where on the frontier between throughput and waiting a {@link PhasedLock} is.
 *
 * @param writersMax of one phase, from 1 on: readers wait for so many at most
 * @param overtakesMax so many writers that just run may go before the one that has waited longest, from 0 on
 * @param isPhaseFair readers that come while a writer waits are let in after it; else until it was woken, which costs less
 */
public record Tuning(int writersMax, int overtakesMax, boolean isPhaseFair) {
  public Tuning {
    if (writersMax < 1 || overtakesMax < 0) {
      throw new IllegalArgumentException("writersMax is " + writersMax + ", from 1 on; overtakesMax is " + overtakesMax + ", from 0 on");
    }
  }

  /** Places that have names. */
  public enum Preset {
    /** Who runs goes before who waits, often: fewest switches between threads. */
    THROUGHPUT(64, 16, false),
    /** Writers wait their turn more strictly, and for fewer readers. */
    BALANCED(64, 2, true);

    private final Tuning tuning;

    Preset(int writersMax, int overtakesMax, boolean isPhaseFair) {
      tuning = new Tuning(writersMax, overtakesMax, isPhaseFair);
    }

    public Tuning tuning() {
      return tuning;
    }
  }
}
