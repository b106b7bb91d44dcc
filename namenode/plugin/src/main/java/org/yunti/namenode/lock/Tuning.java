package org.yunti.namenode.lock;

/**
 * Where on the frontier between throughput and waiting a {@link PhasedLock} is.
 *
 * @param writersMax of one phase, from 1 on: readers wait for so many at most
 * @param overtakesMax so many writers that just run may go before the one that has waited longest, from 0 on
 */
public record Tuning(int writersMax, int overtakesMax) {
  public Tuning {
    if (writersMax < 1 || overtakesMax < 0) {
      throw new IllegalArgumentException("writersMax is " + writersMax + ", from 1 on; overtakesMax is " + overtakesMax + ", from 0 on");
    }
  }

  /** Places that have names. */
  public enum Preset {
    /** Who runs goes before who waits, often: fewest switches between threads. */
    THROUGHPUT(64, 16),
    /** Writers wait their turn more strictly. */
    BALANCED(64, 2);

    private final Tuning tuning;

    Preset(int writersMax, int overtakesMax) {
      tuning = new Tuning(writersMax, overtakesMax);
    }

    public Tuning tuning() {
      return tuning;
    }
  }
}
