package org.yunti.hadoop;

import java.io.BufferedReader;
import java.io.StringReader;
import org.slf4j.Logger;

/** Messages of native code in the log of a task. */
public final class NativeLog {
  private NativeLog() {}

  /** Logs each line of {@code text}, which may have none. */
  public static void print(String text, Logger log) {
    new BufferedReader(new StringReader(text)).lines().forEach(log::info);
  }
}
