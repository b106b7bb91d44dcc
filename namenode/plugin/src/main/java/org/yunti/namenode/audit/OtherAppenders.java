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
 * What else log4j gives the audit log to (syslog, another file, a console): it gets the events as of stock, in the handler. Who has no such appender pays for a
 * look each millisecond. The one that would write our own file is left out: the ring does that.
 */
final class OtherAppenders {
  private static final Appender[] NONE = {};

  private final Category category = LogManager.getLogger(FSNamesystem.AUDIT_LOG.getName());
  private final File own;
  private final AtomicLong lookedMillis = new AtomicLong();
  private volatile Appender[] known = NONE;

  OtherAppenders(Path own) {
    this.own = own.toAbsolutePath().normalize().toFile();
    known = look();
  }

  /** Whether there is any, at the time of this event, with which log4j would log it. */
  boolean areThere(long millis) {
    long looked = lookedMillis.get();
    if (looked != millis && lookedMillis.compareAndSet(looked, millis)) {
      known = look();
    }
    return known.length > 0;
  }

  void append(long millis, String message) {
    LoggingEvent event = new LoggingEvent(RingAuditLogger.class.getName(), category, millis, Level.INFO, message, null);
    for (Appender appender : known) {
      appender.doAppend(event);
    }
  }

  private Appender[] look() {
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
    // An asynchronous one that also writes our file: what else it has is served without it.
    if (appender instanceof AppenderAttachable several) {
      List<Appender> parts = of(several.getAllAppenders());
      if (parts.stream().anyMatch(this::isOwn)) {
        parts.forEach(part -> add(part, found));
        return;
      }
    }
    found.add(appender);
  }

  /** log4j is older than generic types. */
  private static List<Appender> of(Enumeration<?> appenders) {
    return Collections.list(appenders).stream().map(Appender.class::cast).toList();
  }

  private boolean isOwn(Appender appender) {
    String file = appender instanceof FileAppender writes ? writes.getFile() : null;
    return file != null && Path.of(file).toAbsolutePath().normalize().toFile().equals(own);
  }
}
