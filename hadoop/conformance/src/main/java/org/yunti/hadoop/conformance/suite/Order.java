package org.yunti.hadoop.conformance.suite;

/** How much of the order of a job's output records MapReduce promises, and is therefore compared. */
public enum Order {
  /** Every record has its place. */
  EXACT,
  /**
   * The sequence of keys is defined, the order of the records of one key is not: stock Hadoop sorts spills
   * with an unstable sort and cuts them by the speed of a thread.
   */
  VALUES_FREE,
  /** As {@link #VALUES_FREE} over all parts, one after the other: where a total order is cut is a matter of samples. */
  JOINED_PARTS,
  /** Only the multiset of records of each file is defined. */
  RECORDS_FREE,
  /** The program draws from an unseeded random source: only the names of the files are defined. */
  CONTENT_FREE
}
