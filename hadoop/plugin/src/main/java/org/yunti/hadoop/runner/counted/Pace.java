package org.yunti.hadoop.runner.counted;

/**
 * Number of records after which a task reports again: many while records are fast, one where each takes long, so that a
 * slow task still shows its progress. The first ones count each: code of small jobs may read its own progress.
 */
public final class Pace {
  private static final int RECORDS_MAX = 4096;
  private static final int FIRST = 64;
  private static final long WANTED_NS = 20_000_000;

  private int first = FIRST;
  private int records = 1;
  private int left = 1;
  private long last = System.nanoTime();

  /** Returns true if this record is one after which to report. */
  public boolean isDue() {
    if (--left > 0) {
      return false;
    }
    if (first > 0) {
      first--;
      left = 1;
      return true;
    }
    long now = System.nanoTime();
    long took = now - last;
    if (took < WANTED_NS / 2) {
      records = Math.min(2 * records, RECORDS_MAX);
    } else if (took > 2 * WANTED_NS) {
      records = (int) Math.max(1, records * WANTED_NS / took);
    }
    left = records;
    last = now;
    return true;
  }
}
