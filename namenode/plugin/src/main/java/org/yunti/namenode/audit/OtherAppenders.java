package org.yunti.namenode.audit;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystem;
import org.apache.log4j.Appender;
import org.apache.log4j.Category;
import org.apache.log4j.FileAppender;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.log4j.spi.AppenderAttachable;
import org.apache.log4j.spi.LoggingEvent;
import org.apache.log4j.varia.NullAppender;

/**
 * Further log4j appenders of the audit log: syslog, another file, a console.
 *
 * <p>They get each event in the handler, as in stock. Without such appenders the cost is a check each millisecond. An
 * appender of the ring's own file is left out.
 */
final class OtherAppenders {
  private static final Appender[] NONE = {};

  private final Category category = LogManager.getLogger(FSNamesystem.AUDIT_LOG.getName());
  private final File own;
  private final AtomicLong checkedMillis = new AtomicLong();
  private volatile Appender[] known = NONE;

  OtherAppenders(Path own) {
    this.own = own.toAbsolutePath().normalize().toFile();
    known = find();
  }

  /** Returns true if log4j would give an event of this time to an appender. */
  boolean exist(long millis) {
    long checked = checkedMillis.get();
    if (checked != millis && checkedMillis.compareAndSet(checked, millis)) {
      known = find();
    }
    return known.length > 0;
  }

  void append(long millis, String message) {
    LoggingEvent event = new LoggingEvent(RingAuditLogger.class.getName(), category, millis, Level.INFO, message, null);
    for (Appender appender : known) {
      appender.doAppend(event);
    }
  }

  private Appender[] find() {
    if (category.getLoggerRepository().isDisabled(Level.INFO_INT) || !category.isEnabledFor(Level.INFO)) {
      return NONE;
    }
    List<Appender> found = new ArrayList<>();
    for (Category at = category; at != null; at = at.getAdditivity() ? at.getParent() : null) {
      of(at.getAllAppenders()).forEach(appender -> add(appender, found));
    }
    return found.toArray(NONE);
  }

  private void add(Appender appender, List<Appender> found) {
    if (appender instanceof NullAppender || isOwn(appender)) {
      return;
    }
    // An asynchronous appender may contain the one of our file: its other parts then get events directly.
    if (appender instanceof AppenderAttachable several) {
      List<Appender> parts = of(several.getAllAppenders());
      if (parts.stream().anyMatch(this::isOwn)) {
        parts.forEach(part -> add(part, found));
        return;
      }
    }
    found.add(appender);
  }

  /** Returns a typed list; log4j predates generics. */
  private static List<Appender> of(Enumeration<?> appenders) {
    return Collections.list(appenders).stream().map(Appender.class::cast).toList();
  }

  private boolean isOwn(Appender appender) {
    String file = appender instanceof FileAppender writes ? writes.getFile() : null;
    return file != null && Path.of(file).toAbsolutePath().normalize().toFile().equals(own);
  }
}
