package org.yunti.hadoop.conformance.suite;

/** Order of a job's output records that MapReduce guarantees and the suite compares. */
public enum Order {
  /** Every record has a fixed position. */
  EXACT,
  /**
   * Keys are ordered, but the records of one key are not: stock Hadoop sorts spills with an unstable sort, and thread
   * timing decides where spills end.
   */
  VALUES_FREE,
  /** {@link #VALUES_FREE} over all parts joined, because samples decide the bounds of a total order. */
  JOINED_PARTS,
  /** Each file has a fixed multiset of records. */
  RECORDS_FREE,
  /** Only file names are fixed, because the program uses an unseeded random source. */
  CONTENT_FREE
}
