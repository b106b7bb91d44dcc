package org.yunti.hadoop.conformance.compare;

/** What the tasks of a variant must say of themselves. */
public enum Claim {
  NOTHING,
  /** Something, for each job that sorts: that they ran natively, or that they declined for a reason which the case permits. */
  SERVED,
  /** That each of them was native from reader to writer. */
  NATIVE_TASKS
}
