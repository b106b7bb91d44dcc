package org.yunti.hadoop.runner.load;

/**
 * Target of the calls of {@code System.exit} in code of tasks. On a cluster such a call ends the task's JVM, and the
 * attempt fails whatever the code is; here it must not end the program.
 */
public final class TaskExit {
  private TaskExit() {}

  /** Error, because code that catches exceptions would go on. */
  public static final class Called extends Error {
    private static final long serialVersionUID = 1;

    Called(int code) {
      super("the task called System.exit(" + code + ")");
    }
  }

  /** Takes the place of {@code System.exit}. */
  public static void exit(int code) {
    throw new Called(code);
  }
}
