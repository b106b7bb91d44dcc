package org.yunti.hadoop.runner.attempt;

import java.util.function.LongConsumer;

/**
 * Records, or groups of a reduce, that an attempt leaves out because user code failed at them in earlier attempts; and
 * the one that user code has now. Only attempts of jobs that skip bad records have it, after
 * {@code mapreduce.task.skip.start.attempts} failures.
 */
public final class BadRecords {
  /** Number of no record. */
  public static final long NONE = -1;

  private final long[] known;
  private final LongConsumer watcher;
  private int passed;
  private volatile long current = NONE;

  /**
   * @param known numbers of the bad records, from 0, in ascending order
   * @param watcher gets the number of each record before user code does; {@link #NONE} at the end
   */
  public BadRecords(long[] known, LongConsumer watcher) {
    this.known = known;
    this.watcher = watcher;
  }

  /** Returns true if record {@code number} is bad. Otherwise user code has it from now on. */
  public boolean leavesOut(long number) {
    if (passed < known.length && known[passed] == number) {
      passed++;
      return true;
    }
    have(number);
    return false;
  }

  /** Notes that user code has no record any more. */
  public void end() {
    have(NONE);
  }

  private void have(long number) {
    current = number;
    watcher.accept(number);
  }

  /** Returns the record that user code has, or {@link #NONE}. After a failure it is the bad one. */
  public long current() {
    return current;
  }
}
