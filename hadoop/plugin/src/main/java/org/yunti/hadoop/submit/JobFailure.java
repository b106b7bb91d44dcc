package org.yunti.hadoop.submit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.yunti.hadoop.UserCodeFailure;

/**
 * Failure of user code that ended a job, found among the diagnostics of its tasks. The line is the error's own; the
 * detail below it is the user's, as a traceback, or empty.
 */
final class JobFailure {
  private static final int EVENTS_AT_ONCE = 1000;

  /** Exception, its message of several lines, and the stack of Java. */
  private static final Pattern THROWN =
      Pattern.compile(Pattern.quote(UserCodeFailure.class.getName()) + ": Yunti: (.*?)(?=\n\\s+at [\\w.$/]+\\(|\\z)", Pattern.DOTALL);

  final String line;
  final String detail;

  JobFailure(String line, String detail) {
    this.line = line;
    this.detail = detail;
  }

  /** Returns the failure of user code that ended the job, or null if it ended otherwise or its tasks are unknown. */
  static JobFailure of(Job job) throws InterruptedException {
    try {
      JobFailure last = null;
      for (int from = 0; ; ) {
        TaskCompletionEvent[] events = job.getTaskCompletionEvents(from, EVENTS_AT_ONCE);
        for (TaskCompletionEvent event : events) {
          boolean ended = event.getStatus() == TaskCompletionEvent.Status.TIPFAILED;
          if (ended || last == null && event.getStatus() == TaskCompletionEvent.Status.FAILED) {
            JobFailure found = in(String.join("\n", job.getTaskDiagnostics(event.getTaskAttemptId())));
            last = found == null ? last : found;
          }
          if (ended && last != null) {
            return last;
          }
        }
        from += events.length;
        if (events.length == 0) {
          // The commit of the job runs user code's limits, too.
          JobFailure ofCommit = in(String.valueOf(job.getStatus().getFailureInfo()));
          return ofCommit == null ? last : ofCommit;
        }
      }
    } catch (IOException | RuntimeException e) {
      // Hadoop's client has printed what it knows.
      return null;
    }
  }

  /** Returns the last failure in a text of diagnostics, or null. */
  static JobFailure in(String diagnostics) {
    Matcher thrown = THROWN.matcher(diagnostics);
    JobFailure last = null;
    while (thrown.find()) {
      String[] parts = thrown.group(1).split("\n", 2);
      last = new JobFailure(parts[0].trim(), parts.length < 2 ? "" : parts[1].replaceFirst("\\s+\\z", ""));
    }
    return last;
  }

  /** Writes the failure for the command line of Yunti: its line, then the detail. */
  void write(String file) throws IOException {
    Files.write(Paths.get(file), (line + "\n" + detail).getBytes(StandardCharsets.UTF_8));
  }
}
