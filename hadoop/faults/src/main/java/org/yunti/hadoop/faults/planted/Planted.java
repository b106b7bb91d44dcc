package org.yunti.hadoop.faults.planted;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Failures planted in this task attempt. */
public final class Planted {
  private static final Pattern ATTEMPT = Pattern.compile("attempt_\\d+_\\d+_([mr])_(\\d+)_(\\d+)");

  /** Exit status of a shell for a process that SIGSEGV ended. */
  private static final int SEGMENTATION_FAULT = 139;

  private static final Map<String, Planted> BY_METHOD = new HashMap<>();

  private final int call;
  private final String kind;
  private final AtomicInteger calls = new AtomicInteger();

  private Planted(int call, String kind) {
    this.call = call;
    this.kind = kind;
  }

  /**
   * Reads a plan ({@link PlantingAgent}); returns true if it has a failure for the attempt that the command line names.
   */
  static boolean plan(String plan, String command) {
    Matcher attempt = ATTEMPT.matcher(command);
    if (!attempt.find()) {
      return false;
    }
    String[] halves = plan.split(":");
    String[] attempts = halves[0].split("-");
    int number = Integer.parseInt(attempt.group(3));
    if (number < Integer.parseInt(attempts[0]) || number > Integer.parseInt(attempts[attempts.length - 1])) {
      return false;
    }
    String task = attempt.group(1) + Integer.parseInt(attempt.group(2));
    for (String failure : halves[1].split(",")) {
      String[] words = failure.split("\\.");
      if (words[0].equals(task)) {
        BY_METHOD.put(words[1], new Planted(Integer.parseInt(words[2]), words[3]));
      }
    }
    return !BY_METHOD.isEmpty();
  }

  /** Runs before each call of a native method. */
  public static void call(String method) throws IOException {
    Planted planted = BY_METHOD.get(method);
    if (planted == null || planted.calls.incrementAndGet() != planted.call) {
      return;
    }
    String message = "planted in " + method;
    switch (planted.kind) {
      case "io" -> throw new IOException(message);
      case "runtime" -> throw new IllegalStateException(message);
      case "link" -> throw new UnsatisfiedLinkError(message);
      case "halt" -> Runtime.getRuntime().halt(SEGMENTATION_FAULT);
      default -> throw new IllegalArgumentException(planted.kind);
    }
  }
}
