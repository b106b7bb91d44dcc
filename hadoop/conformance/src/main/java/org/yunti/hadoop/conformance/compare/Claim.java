package org.yunti.hadoop.conformance.compare;

/** Counters that the tasks of a variant must report. */
public enum Claim {
  NOTHING,
  /** One report per job that sorts: its tasks ran natively, or declined for a reason that the case permits. */
  SERVED,
  /** Report of each task that it was native from reader to writer. */
  NATIVE_TASKS
}
