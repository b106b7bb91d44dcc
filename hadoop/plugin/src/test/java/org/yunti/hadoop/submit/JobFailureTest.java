package org.yunti.hadoop.submit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.yunti.hadoop.UserCodeFailure;

/** Diagnostics of tasks are stacks of Java as text, sometimes several of them. */
class JobFailureTest {
  private static String diagnostics(Exception failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return "Error: " + text;
  }

  private static void check(String message, String line, String detail) {
    checkText(diagnostics(new UserCodeFailure(message)), line, detail);
  }

  private static void checkText(String diagnostics, String line, String detail) {
    JobFailure found = JobFailure.in(diagnostics);
    assertEquals(line, found.line);
    assertEquals(detail, found.detail);
  }

  @Test
  void findsTheLineAndTheDetail() {
    check("Yunti: ./p.py ended with exit code 3 in map task 0", "./p.py ended with exit code 3 in map task 0", "");
    String traceback = "Traceback (most recent call last):\n  File \"p.py\", line 7, in picky\n    at = 1\nValueError: no";
    check("Yunti: ValueError: no (p.py, line 7): in/a, byte 9\n" + traceback, "ValueError: no (p.py, line 7): in/a, byte 9", traceback);
  }

  @Test
  void takesTheLastOfSeveral() {
    String two = diagnostics(new UserCodeFailure("Yunti: first")) + "\n" + diagnostics(new UserCodeFailure("Yunti: last\nmore"));
    checkText(two, "last", "more");
    // The commit of a job has no stack in its diagnostics.
    String commit = "Job commit failed: org.yunti.hadoop.UserCodeFailure: Yunti: 2 records are bad";
    checkText(commit, "2 records are bad", "");
  }

  @Test
  void otherFailuresAreNotOfUserCode() {
    assertNull(JobFailure.in(diagnostics(new java.io.IOException("Yunti: cannot read a file"))));
    assertNull(JobFailure.in("Container killed by the ApplicationMaster."));
    assertNull(JobFailure.in(""));
  }
}
