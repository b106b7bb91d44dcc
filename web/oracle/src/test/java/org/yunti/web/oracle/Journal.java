package org.yunti.web.oracle;

import java.util.ArrayList;
import java.util.List;

/**
 * Journal of the events of a page in order: calls into the model, writes to the context, log messages.
 *
 * <p>It belongs to the thread, because Velocity creates event handlers and directives by class name, without arguments.
 */
public final class Journal {
  /** Lines at most, so that an endless template does not fill the memory before its loop limit. */
  private static final int LINES_MAX = 20_000;

  private static final ThreadLocal<List<String>> OPEN = new ThreadLocal<>();

  private Journal() {}

  /** Starts a journal, which ends with {@link #close}. */
  public static void open() {
    OPEN.set(new ArrayList<>());
  }

  public static List<String> close() {
    List<String> lines = OPEN.get();
    OPEN.remove();
    return lines == null ? List.of() : lines;
  }

  public static void note(String line) {
    List<String> lines = OPEN.get();
    if (lines != null && lines.size() < LINES_MAX) {
      lines.add(line);
    }
  }
}
