package org.yunti.web.oracle.log;

import java.util.Map;
import java.util.TreeMap;
import org.slf4j.MDC;
import org.slf4j.event.Level;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MessageFormatter;
import org.yunti.web.oracle.Journal;

/**
 * Logger that writes messages from DEBUG on to the journal, with the exception and the MDC. It skips loggers of this
 * project: the compiler's messages are no part of Velocity's semantics.
 */
public final class JournalLogger extends LevelledLogger {
  private static final long serialVersionUID = 1;

  public JournalLogger(String name) {
    super(name);
  }

  @Override
  void log(Level level, String format, Object... arguments) {
    if (level == Level.TRACE || name.startsWith("org.yunti.")) {
      return;
    }
    // Formatting an argument calls its toString(), which counts too, so the journal stays open here.
    FormattingTuple text = MessageFormatter.arrayFormat(format, arguments);
    StringBuilder line = new StringBuilder("log ").append(level).append(' ').append(name).append(": ")
        .append(text.getMessage());
    for (Throwable t = text.getThrowable(); t != null; t = t.getCause()) {
      line.append(" <- ").append(t.getClass().getName()).append(": ").append(t.getMessage());
    }
    Map<String, String> mdc = MDC.getCopyOfContextMap();
    if (mdc != null && !mdc.isEmpty()) {
      line.append(" at ").append(new TreeMap<>(mdc));
    }
    Journal.note(line.toString());
  }
}
