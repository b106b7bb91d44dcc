package org.yunti.namenode.audit;

import java.nio.charset.Charset;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.TimeZone;

/**
 * Formatter of audit lines: {@code %d{ISO8601} %p %c{2}: %m%n}, the audit layout of Hadoop's log4j.properties.
 *
 * <p>Only one thread at a time may use it.
 */
final class AuditLine {
  private static final String LOGGER = " INFO FSNamesystem.audit: ";
  private static final DateTimeFormatter SECOND = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,");
  private static final int MILLIS = 1000;

  private final int contextCharsMax;
  /** Default charset, as in a log4j appender without a setting. */
  private final Charset charset = Charset.defaultCharset();
  private final StringBuilder text = new StringBuilder();
  private long second = Long.MIN_VALUE;
  private String secondText = "";

  AuditLine(int contextCharsMax) {
    this.contextCharsMax = contextCharsMax;
  }

  /** Returns the message alone. */
  String message(AuditEvent event) {
    text.setLength(0);
    event.appendTo(text, contextCharsMax);
    return text.toString();
  }

  /** Returns the encoded line, with its end. */
  byte[] bytes(AuditEvent event) {
    text.setLength(0);
    appendTime(event.millis());
    text.append(LOGGER);
    event.appendTo(text, contextCharsMax);
    text.append(System.lineSeparator());
    return text.toString().getBytes(charset);
  }

  /** Decodes a line. */
  String text(byte[] bytes) {
    return new String(bytes, charset);
  }

  /** Returns the message of a line; a partial line without the logger's name is returned whole. */
  static String message(String line) {
    int begin = line.indexOf(LOGGER);
    return begin < 0 ? line : line.substring(begin + LOGGER.length());
  }

  private void appendTime(long millis) {
    long of = Math.floorDiv(millis, MILLIS);
    if (of != second) {
      second = of;
      // The default time zone is read each time, as by log4j's Calendar, since it may change.
      secondText = SECOND.format(Instant.ofEpochSecond(of).atZone(TimeZone.getDefault().toZoneId()));
    }
    int rest = Math.floorMod(millis, MILLIS);
    text.append(secondText)
        .append((char) ('0' + rest / 100))
        .append((char) ('0' + rest / 10 % 10))
        .append((char) ('0' + rest % 10));
  }
}
