package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Returns a task to Hadoop's own code after native code failed in it, so that a job succeeds if it does with stock
 * Hadoop.
 *
 * <pre>
 *   attempt 0   native code fails  ->  NativeFailure, and a mark in the job's staging directory
 *   attempt 1   finds the mark     ->  declines before its first record: Hadoop's own code runs
 * </pre>
 *
 * <p>A JVM that ends at once (a signal, the kernel's out-of-memory killer, YARN's memory limit) leaves no mark.
 * Therefore the third attempt declines ({@code yunti.hadoop.native.attempts}), and so does the last one that the job
 * allows. A first repeat without a mark stays native: most are speculative attempts, or replace attempts of a lost
 * node.
 *
 * <p>LocalJobRunner and uber jobs make one attempt per task, so a failure of native code ends the job.
 */
public final class Fallback {
  /** Directory of the marks, in the job's staging directory. Each mark has the name of a task. */
  private static final String MARKS = "yunti-native-failures";

  /** Job setting, default 2: number of attempts of a task that native code serves if none of them leaves a mark. */
  private static final String ATTEMPTS = "yunti.hadoop.native.attempts";

  private static final int ATTEMPTS_DEFAULT = 2;

  /** Step of attempt numbers: after a restart of the application master, they continue at the next multiple. */
  private static final int ATTEMPTS_A_MASTER = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(Fallback.class);

  private Fallback() {}

  /**
   * Throws {@link Declined} if native code failed in an earlier attempt of the task, or if earlier attempts without a
   * mark use up the limit.
   */
  public static void check(JobConf job, TaskAttemptID attempt) throws Declined {
    int repeat = attempt.getId() % ATTEMPTS_A_MASTER;
    boolean isMap = attempt.getTaskType() == TaskType.MAP;
    int attemptsMax = isMap ? job.getMaxMapAttempts() : job.getMaxReduceAttempts();
    if (attempt.getId() > 0 && isMarked(job, attempt)) {
      throw new Declined("native code failed in an earlier attempt");
    }
    if (repeat > 0 && repeat >= Math.min(job.getInt(ATTEMPTS, ATTEMPTS_DEFAULT), attemptsMax - 1)) {
      throw new Declined("earlier attempts failed or were killed");
    }
  }

  /**
   * Marks the task of an attempt in which native code failed, counts and logs the failure, and returns the exception to
   * throw. Returns an exception that is already marked unchanged.
   */
  public static NativeFailure failed(JobConf job, Reporter reporter, TaskAttemptID attempt, Throwable why) {
    if (why instanceof NativeFailure) {
      return (NativeFailure) why;
    }
    reporter.getCounter(Verdict.COUNTERS, "failed in native code").increment(1);
    boolean isMarked = mark(job, attempt);
    String reason = String.valueOf(why instanceof IOException ? why.getMessage() : why);
    String message =
        "native code failed in " + attempt + ": " + reason + "; "
            + "Hadoop's own code runs " + (isMarked ? "any further attempt" : "the third and the last attempt") + " of the task";
    LOG.error(message, why);
    return new NativeFailure(message, why);
  }

  /** Returns the path of a task's mark, or null if the job has no staging directory. */
  private static Path pathOf(JobConf job, TaskAttemptID attempt) {
    String directory = job.get(MRJobConfig.MAPREDUCE_JOB_DIR);
    return directory == null ? null : new Path(new Path(directory, MARKS), attempt.getTaskID().toString());
  }

  private static boolean isMarked(JobConf job, TaskAttemptID attempt) {
    Path mark = pathOf(job, attempt);
    try {
      return mark != null && mark.getFileSystem(job).exists(mark);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Yunti cannot check for {}: {}", mark, e.toString());
      return false;
    }
  }

  private static boolean mark(JobConf job, TaskAttemptID attempt) {
    Path mark = pathOf(job, attempt);
    if (mark == null) {
      return false;
    }
    try {
      mark.getFileSystem(job).create(mark, true).close();
      return true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("Yunti cannot create {}: {}", mark, e.toString());
      return false;
    }
  }
}
