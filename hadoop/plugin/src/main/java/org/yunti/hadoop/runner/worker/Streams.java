package org.yunti.hadoop.runner.worker;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * Where a worker's messages come and go. The standard streams are user code's: it may read and print, also past
 * {@link System#out}, and a JVM that refuses an option says so on its standard output. So the shell that starts the JVM
 * moves the two pipes to other descriptors, and lets the JVM print into its log.
 */
final class Streams {
  private static final int FROM_JOB = 3;
  private static final int TO_JOB = 4;

  /** Shell command that starts its arguments. */
  static final String MOVED = "exec \"$@\" " + FROM_JOB + "<&0 " + TO_JOB + ">&1 </dev/null >&2";

  private Streams() {}

  static FileInputStream fromJob() throws IOException {
    return new FileInputStream("/proc/self/fd/" + FROM_JOB);
  }

  static FileOutputStream toJob() throws IOException {
    return new FileOutputStream("/proc/self/fd/" + TO_JOB);
  }
}
