package org.yunti.namenode.audit;

import java.nio.charset.Charset;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.TimeZone;

/**
 * Makes bytes of events: {@code %d{ISO8601} %p %c{2}: %m%n}, the layout that Hadoop's log4j.properties gives its audit log.
 *
 * <p>Of one thread at a time.
 */
final class AuditLine {
  private static final String LOGGER = " INFO FSNamesystem.audit: ";
  private static final DateTimeFormatter SECOND = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,");
  private static final int MILLIS = 1000;

  private final int contextCharsMax;
  /** That of a log4j appender of which nothing else is said. */
  private final Charset charset = Charset.defaultCharset();
  private final StringBuilder text = new StringBuilder();
  private long second = Long.MIN_VALUE;
  private String secondText = "";

  AuditLine(int contextCharsMax) {
    this.contextCharsMax = contextCharsMax;
  }

  /** The message alone. */
  String message(AuditEvent event) {
    text.setLength(0);
    event.appendTo(text, contextCharsMax);
    return text.toString();
  }

  /** The line, with its end. */
  byte[] bytes(AuditEvent event) {
    text.setLength(0);
    appendTime(event.millis());
    text.append(LOGGER);
    event.appendTo(text, contextCharsMax);
    text.append(System.lineSeparator());
    return text.toString().getBytes(charset);
  }

  /** Back from bytes. */
  String text(byte[] bytes) {
    return new String(bytes, charset);
  }

  /** Of a line, what is behind the logger's name; of the rest of one, all. */
  static String message(String line) {
    int begin = line.indexOf(LOGGER);
    return begin < 0 ? line : line.substring(begin + LOGGER.length());
  }

  private void appendTime(long millis) {
    long of = Math.floorDiv(millis, MILLIS);
    if (of != second) {
      second = of;
      // As log4j's Calendar: also after somebody has set another default.
      secondText = SECOND.format(Instant.ofEpochSecond(of).atZone(TimeZone.getDefault().toZoneId()));
    }
    int rest = Math.floorMod(millis, MILLIS);
    text.append(secondText).append((char) ('0' + rest / 100)).append((char) ('0' + rest / 10 % 10)).append((char) ('0' + rest % 10));
  }
}
