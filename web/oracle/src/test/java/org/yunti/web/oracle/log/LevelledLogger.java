package org.yunti.web.oracle.log;

import org.slf4j.event.Level;
import org.slf4j.helpers.MarkerIgnoringBase;

/** Base of a logger: the thirty methods of an SLF4J logger, reduced to one. */
abstract class LevelledLogger extends MarkerIgnoringBase {
  private static final long serialVersionUID = 1;

  LevelledLogger(String name) {
    this.name = name;
  }

  abstract void log(Level level, String format, Object... arguments);

  @Override
  public boolean isTraceEnabled() {
    return false;
  }

  @Override
  public void trace(String text) {
    log(Level.TRACE, text);
  }

  @Override
  public void trace(String format, Object a) {
    log(Level.TRACE, format, a);
  }

  @Override
  public void trace(String format, Object a, Object b) {
    log(Level.TRACE, format, a, b);
  }

  @Override
  public void trace(String format, Object... arguments) {
    log(Level.TRACE, format, arguments);
  }

  @Override
  public void trace(String text, Throwable t) {
    log(Level.TRACE, text, t);
  }

  @Override
  public boolean isDebugEnabled() {
    return true;
  }

  @Override
  public void debug(String text) {
    log(Level.DEBUG, text);
  }

  @Override
  public void debug(String format, Object a) {
    log(Level.DEBUG, format, a);
  }

  @Override
  public void debug(String format, Object a, Object b) {
    log(Level.DEBUG, format, a, b);
  }

  @Override
  public void debug(String format, Object... arguments) {
    log(Level.DEBUG, format, arguments);
  }

  @Override
  public void debug(String text, Throwable t) {
    log(Level.DEBUG, text, t);
  }

  @Override
  public boolean isInfoEnabled() {
    return true;
  }

  @Override
  public void info(String text) {
    log(Level.INFO, text);
  }

  @Override
  public void info(String format, Object a) {
    log(Level.INFO, format, a);
  }

  @Override
  public void info(String format, Object a, Object b) {
    log(Level.INFO, format, a, b);
  }

  @Override
  public void info(String format, Object... arguments) {
    log(Level.INFO, format, arguments);
  }

  @Override
  public void info(String text, Throwable t) {
    log(Level.INFO, text, t);
  }

  @Override
  public boolean isWarnEnabled() {
    return true;
  }

  @Override
  public void warn(String text) {
    log(Level.WARN, text);
  }

  @Override
  public void warn(String format, Object a) {
    log(Level.WARN, format, a);
  }

  @Override
  public void warn(String format, Object a, Object b) {
    log(Level.WARN, format, a, b);
  }

  @Override
  public void warn(String format, Object... arguments) {
    log(Level.WARN, format, arguments);
  }

  @Override
  public void warn(String text, Throwable t) {
    log(Level.WARN, text, t);
  }

  @Override
  public boolean isErrorEnabled() {
    return true;
  }

  @Override
  public void error(String text) {
    log(Level.ERROR, text);
  }

  @Override
  public void error(String format, Object a) {
    log(Level.ERROR, format, a);
  }

  @Override
  public void error(String format, Object a, Object b) {
    log(Level.ERROR, format, a, b);
  }

  @Override
  public void error(String format, Object... arguments) {
    log(Level.ERROR, format, arguments);
  }

  @Override
  public void error(String text, Throwable t) {
    log(Level.ERROR, text, t);
  }
}
