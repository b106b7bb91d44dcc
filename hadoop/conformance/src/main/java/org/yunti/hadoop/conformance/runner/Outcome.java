package org.yunti.hadoop.conformance.runner;

import java.util.List;
import java.util.Map;

/**
 * Outcome of one run of a case.
 *
 * @param error the error of the program itself, as {@code CLASS: MESSAGE}, or null
 * @param files names below the output folder, with their records in a canonical order
 * @param printed the lines of standard output that the case selects
 */
public record Outcome(String error, List<JobResult> jobs, Map<String, List<String>> files, List<String> printed) {
  /**
   * Outcome of one job.
   *
   * @param mapper the class of its map tasks, or null if the job names none
   * @param causes of its failure, from the outermost exception
   * @param counters by {@code GROUP:COUNTER}, the group without its package
   */
  public record JobResult(
      String mapper, int maps, int reduces, boolean succeeded, List<String> causes, Map<String, Long> counters) {
    /** Returns the class of the outermost exception, which a program could catch. */
    public String kindOfFailure() {
      return causes.isEmpty() ? "unknown" : causes.get(0).split(":", 2)[0];
    }
  }

  public boolean failed() {
    return error != null || jobs.stream().anyMatch(job -> !job.succeeded());
  }

  /** Returns the outcome in one line, for people. */
  public String ending() {
    for (int i = 0; i < jobs.size(); i++) {
      if (!jobs.get(i).succeeded()) {
        return "job " + (i + 1) + " failed: " + String.join(" / ", jobs.get(i).causes());
      }
    }
    return error == null ? "succeeded" : "program failed: " + error;
  }
}
