package org.yunti.hadoop.runner.job;

import org.apache.hadoop.mapreduce.JobPriority;

/** Priorities of jobs, which Hadoop's clients send as names or as YARN's numbers. Here no queue reads them. */
public final class Priorities {
  private static final JobPriority[] NUMBERED = {
    JobPriority.DEFAULT, JobPriority.VERY_LOW, JobPriority.LOW, JobPriority.NORMAL, JobPriority.HIGH,
    JobPriority.VERY_HIGH
  };

  private Priorities() {}

  /** Returns the priority with a name or a number; numbers that have no name are undefined. */
  public static JobPriority of(String priority) {
    try {
      int number = Integer.parseInt(priority);
      return number >= 0 && number < NUMBERED.length ? NUMBERED[number] : JobPriority.UNDEFINED_PRIORITY;
    } catch (NumberFormatException e) {
      return JobPriority.valueOf(priority);
    }
  }
}
