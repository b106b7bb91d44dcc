package org.yunti.hadoop.runner.record;

import java.nio.charset.StandardCharsets;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Layout;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.spi.LoggingEvent;

/** Log4j appender that writes the log of attempts to their files {@code syslog}. */
final class LogFile extends AppenderSkeleton {
  private static final String FORMAT = "%d{ISO8601} %p [%t] %c: %m%n";

  private LogFile() {
    setLayout(new PatternLayout(FORMAT));
    setThreshold(Level.INFO);
  }

  /** Adds the appender. Programs log by log4j 1, as Hadoop does, unless their user chose another library. */
  static void install() {
    Logger.getRootLogger().addAppender(new LogFile());
  }

  @Override
  protected void append(LoggingEvent event) {
    StringBuilder text = new StringBuilder(layout.format(event));
    String[] stack = event.getThrowableStrRep();
    if (stack != null) {
      for (String line : stack) {
        text.append(line).append(Layout.LINE_SEP);
      }
    }
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    AttemptOutput.write("syslog", bytes, 0, bytes.length);
  }

  @Override
  public void close() {}

  @Override
  public boolean requiresLayout() {
    return true;
  }
}
