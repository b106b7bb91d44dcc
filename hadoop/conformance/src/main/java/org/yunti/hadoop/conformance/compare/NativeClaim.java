package org.yunti.hadoop.conformance.compare;

import java.util.Map;
import java.util.regex.Pattern;
import org.yunti.hadoop.conformance.runner.Outcome.JobResult;
import org.yunti.hadoop.conformance.suite.Case;

/**
 * Counters that the tasks of a variant reported: group {@code Yunti} with {@code native}, or with {@code declined:
 * REASON} for a task of stock Hadoop. A plug-in that silently declines all tasks also gives the right output. A decline
 * is therefore a failure unless the case permits its reason, and so is a missing report.
 */
final class NativeClaim {
  static final String GROUP = "Yunti";
  private static final String NATIVE_MAPPER = "org.yunti.hadoop.task.NativeMapper";
  private static final String NATIVE = GROUP + ":native";
  private static final String DECLINED = GROUP + ":declined: ";

  private NativeClaim() {}

  /** @return the fault, or null */
  static String fault(Claim claim, Case testCase, JobResult job) {
    if (!job.succeeded()) {
      return null; // The counters of failed tasks are lost.
    }
    return switch (claim) {
      case NOTHING -> null;
      case SERVED -> sorts(job) ? faultOfServed(testCase, job) : null;
      case NATIVE_TASKS -> faultOfNativeTasks(testCase, job);
    };
  }

  /**
   * Returns the fault of a native job. Each task must report native, and none may decline: there is no stock code to
   * fall back to.
   */
  private static String faultOfNativeTasks(Case testCase, JobResult job) {
    if (!NATIVE_MAPPER.equals(job.mapper())) {
      return "no job of native tasks: its mapper is " + job.mapper();
    }
    for (String counter : job.counters().keySet()) {
      if (counter.startsWith(DECLINED)) {
        return "declined: " + counter.substring(DECLINED.length());
      }
    }
    long reported = job.counters().getOrDefault(NATIVE, 0L);
    int tasks = job.maps() + job.reduces();
    if (testCase.hasToSpill() && count(job, "SPILLED_RECORDS") == 0) {
      return "no spills in a case that tests spills";
    }
    return reported == tasks ? null : reported + " of " + tasks + " tasks report that they ran natively";
  }

  private static String faultOfServed(Case testCase, JobResult job) {
    boolean spoke = false;
    for (Map.Entry<String, Long> counter : job.counters().entrySet()) {
      if (counter.getValue() == 0) {
        continue;
      }
      spoke |= counter.getKey().equals(NATIVE);
      if (counter.getKey().startsWith(DECLINED)) {
        spoke = true;
        String reason = counter.getKey().substring(DECLINED.length());
        if (!permitted(testCase, reason)) {
          return "declined: " + reason;
        }
      }
    }
    // Hadoop and the collector count a record again in each merge.
    if (testCase.hasToSpill() && count(job, "SPILLED_RECORDS") <= count(job, "MAP_OUTPUT_RECORDS")) {
      return "no spills in a case that tests spills";
    }
    return spoke ? null : "no task reported counter group " + GROUP + ": check that the plug-in is in use";
  }

  private static long count(JobResult job, String counter) {
    return job.counters().getOrDefault("TaskCounter:" + counter, 0L);
  }

  /**
   * Returns true if map tasks ran and their output went to reduces: SPLIT_RAW_BYTES counts the split of every map task.
   */
  private static boolean sorts(JobResult job) {
    return job.reduces() > 0 && count(job, "SPLIT_RAW_BYTES") > 0;
  }

  private static boolean permitted(Case testCase, String reason) {
    for (Pattern permitted : testCase.permittedDeclines()) {
      if (permitted.matcher(reason).find()) {
        return true;
      }
    }
    return false;
  }
}
