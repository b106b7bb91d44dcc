package org.yunti.hadoop.conformance.runner;

import java.util.List;
import java.util.Map;

/**
 * What one run of a case came to.
 *
 * @param error of the program itself, as {@code CLASS: MESSAGE}, or null
 * @param files names below the output folder and their records in a canonical order
 * @param printed the lines on standard output that the case asks for
 */
public record Outcome(String error, List<JobResult> jobs, Map<String, List<String>> files, List<String> printed) {
  /**
   * @param mapper the class of its map tasks, or null where the job names none
   * @param causes why it failed, from the outermost exception
   * @param counters by {@code GROUP:COUNTER}, the group without its package
   */
  public record JobResult(
      String mapper, int maps, int reduces, boolean succeeded, List<String> causes, Map<String, Long> counters) {
    /** The class of the outermost exception: what a program could catch. */
    public String kindOfFailure() {
      return causes.isEmpty() ? "unknown" : causes.get(0).split(":", 2)[0];
    }
  }

  public boolean failed() {
    return error != null || jobs.stream().anyMatch(job -> !job.succeeded());
  }

  /** In one line, for a person. */
  public String ending() {
    for (int i = 0; i < jobs.size(); i++) {
      if (!jobs.get(i).succeeded()) {
        return "job " + (i + 1) + " failed: " + String.join(" / ", jobs.get(i).causes());
      }
    }
    return error == null ? "succeeded" : "program failed: " + error;
  }
}
