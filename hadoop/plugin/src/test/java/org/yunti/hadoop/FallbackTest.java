package org.yunti.hadoop;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FallbackTest {
  private static final String MARKED = "native code failed in an earlier attempt";
  private static final String REPEATED = "earlier attempts failed or were killed";

  @TempDir Path directory;
  private final JobConf job = new JobConf(false);
  private final CountingReporter reporter = new CountingReporter();

  @BeforeEach
  void setJobDirectory() {
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, directory.toUri().toString());
  }

  private static TaskAttemptID attempt(char kind, int task, int number) {
    return TaskAttemptID.forName(String.format("attempt_1700000000000_0001_%c_%06d_%d", kind, task, number));
  }

  private void served(TaskAttemptID attempt) {
    assertDoesNotThrow(() -> Fallback.check(job, attempt));
  }

  private void declined(TaskAttemptID attempt, String reason) {
    assertEquals(reason, assertThrows(Declined.class, () -> Fallback.check(job, attempt)).getMessage());
  }

  private NativeFailure failed(TaskAttemptID attempt) {
    return Fallback.failed(job, reporter, attempt, new IOException("Yunti: it broke"));
  }

  @Test
  void declinesOnlyFurtherAttemptsOfAMarkedTask() {
    NativeFailure failure = failed(attempt('m', 3, 0));
    assertEquals(
        "native code failed in attempt_1700000000000_0001_m_000003_0: Yunti: it broke; "
            + "Hadoop's own code runs any further attempt of the task",
        failure.getMessage());
    declined(attempt('m', 3, 1), MARKED);
    declined(attempt('m', 3, 3), MARKED);
    served(attempt('m', 4, 1));
    served(attempt('r', 3, 1));
  }

  @Test
  void findsTheMarkAfterARestartOfTheApplicationMaster() {
    failed(attempt('m', 0, 0));
    declined(attempt('m', 0, 1000), MARKED);
    served(attempt('m', 1, 1000));
    served(attempt('m', 1, 1001));
    declined(attempt('m', 1, 1002), REPEATED);
  }

  @Test
  void declinesTheThirdAndTheLastAttemptWithoutAMark() {
    served(attempt('r', 0, 0));
    served(attempt('r', 0, 1));
    declined(attempt('r', 0, 2), REPEATED);
    job.setInt("yunti.hadoop.native.attempts", 3);
    served(attempt('r', 0, 2));
    declined(attempt('r', 0, 3), REPEATED);
    job.setMaxReduceAttempts(2);
    declined(attempt('r', 0, 1), REPEATED);
    served(attempt('m', 0, 1));
    job.setMaxReduceAttempts(1);
    served(attempt('r', 0, 0));
  }

  @Test
  void countsAttemptsIfTheDirectoryIsNotWritable() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, file.toUri().toString());
    String message = failed(attempt('m', 0, 0)).getMessage();
    assertEquals("Hadoop's own code runs the third and the last attempt of the task", message.substring(message.indexOf("; ") + 2));
    served(attempt('m', 0, 1));
    declined(attempt('m', 0, 2), REPEATED);
    job.unset(MRJobConfig.MAPREDUCE_JOB_DIR);
    failed(attempt('m', 0, 0));
    served(attempt('m', 0, 1));
  }

  @Test
  void marksAFailureOnce() {
    NativeFailure failure = failed(attempt('m', 0, 0));
    assertSame(failure, Fallback.failed(job, reporter, attempt('m', 0, 0), failure));
    assertEquals(1, reporter.getCounter(Verdict.COUNTERS, "failed in native code").getValue());
  }
}
