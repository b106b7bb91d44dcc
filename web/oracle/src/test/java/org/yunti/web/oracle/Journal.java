package org.yunti.web.oracle;

import java.util.ArrayList;
import java.util.List;

/**
 * What happens while a page is made, in order: calls into the model, writes into the context, messages of the log.
 *
 * <p>It belongs to the thread, since event handlers and directives that Velocity creates by class name cannot be handed anything.
 */
public final class Journal {
  /** An endless template must not fill the memory before its loop limit. */
  private static final int LINES_MAX = 20_000;

  private static final ThreadLocal<List<String>> OPEN = new ThreadLocal<>();

  private Journal() {}

  /** Begins a journal, which ends with {@link #close}. */
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
