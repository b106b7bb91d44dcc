package org.yunti.table.spring;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.yunti.table.Table;

/**
 * The tables of an application in their newest versions: a thread checks whether their files were replaced, or their
 * servers have newer ones.
 *
 * <p>Take a table from here for each request. A replaced one is closed a minute later; the tables of the start, which
 * are beans, stay open until the context is closed.
 */
public final class Tables implements AutoCloseable {
  private static final Log LOG = LogFactory.getLog(Tables.class);
  private static final long OLD_NANOS = Duration.ofMinutes(1).toNanos();

  private final Map<String, Table> atStart = new LinkedHashMap<>();
  private final Map<String, Table> newest = new ConcurrentHashMap<>();
  private final Map<String, String> warnings = new ConcurrentHashMap<>();
  private final ArrayDeque<Old> old = new ArrayDeque<>();
  private final Thread checks;
  private boolean isClosed;

  /** A table whose place another has taken. */
  private record Old(Table table, long since) {
  }

  /** Opens tables. */
  Tables(Collection<TableSettings> settings, Duration interval) {
    try {
      for (TableSettings one : settings) {
        atStart.put(one.name(), one.open());
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    newest.putAll(atStart);
    checks = new Thread(() -> checkEach(interval), "yunti-tables");
    checks.setDaemon(true);
    if (interval.toMillis() > 0) {
      checks.start();
    }
  }

  public Set<String> names() {
    return atStart.keySet();
  }

  /** Returns a table in its newest version. */
  public Table get(String name) {
    return existing(newest, name);
  }

  /** Returns the table that the context began with. */
  Table atStart(String name) {
    return existing(atStart, name);
  }

  private Table existing(Map<String, Table> tables, String name) {
    Table table = tables.get(name);
    if (table == null) {
      throw new IllegalArgumentException("there is no table " + name + "; yunti.tables has " + atStart.keySet());
    }
    return table;
  }

  private void checkEach(Duration interval) {
    try {
      while (true) {
        Thread.sleep(interval.toMillis());
        refresh();
      }
    } catch (InterruptedException closed) {
      return;
    }
  }

  /** Checks all tables now. One that cannot be opened leaves the old one in its place. */
  public void refresh() {
    for (String name : atStart.keySet()) {
      try {
        Table before = newest.get(name);
        Table now = before.reopen();
        if (now != before) {
          replace(name, before, now);
        }
        warnings.remove(name);
      } catch (IOException | RuntimeException e) {
        warn(name, e);
      }
    }
    closeOld(System.nanoTime() - OLD_NANOS);
  }

  /** Warns once of each failure. */
  private void warn(String name, Exception e) {
    if (!isClosed() && !e.toString().equals(warnings.put(name, e.toString()))) {
      LOG.warn("the table " + name + " stays at its old version: " + e);
    }
  }

  private synchronized void replace(String name, Table before, Table now) {
    if (isClosed || !newest.replace(name, before, now)) {
      now.close();
    } else if (before != atStart.get(name)) {
      old.add(new Old(before, System.nanoTime()));
    }
  }

  private void closeOld(long until) {
    List<Table> due = new ArrayList<>();
    synchronized (this) {
      while (!old.isEmpty() && old.peek().since - until < 0) {
        due.add(old.poll().table);
      }
    }
    due.forEach(Table::close);
  }

  private synchronized boolean isClosed() {
    return isClosed;
  }

  /** Closes all tables. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
      old.forEach(one -> one.table.close());
      old.clear();
      newest.values().forEach(Table::close);
      atStart.values().forEach(Table::close);
    }
    if (checks != null) {
      checks.interrupt();
    }
  }
}
