package org.slf4j.impl;

import org.slf4j.ILoggerFactory;
import org.slf4j.spi.LoggerFactoryBinder;
import org.yunti.web.oracle.log.JournalLogger;

/** Binding of SLF4J 1.7, which finds it by this name: all loggers write to the journal of the render. */
public final class StaticLoggerBinder implements LoggerFactoryBinder {
  /** Version that SLF4J reads; not a constant, so that it is not inlined there. */
  public static String REQUESTED_API_VERSION = "1.6.99";

  private static final StaticLoggerBinder SINGLETON = new StaticLoggerBinder();

  private StaticLoggerBinder() {}

  public static StaticLoggerBinder getSingleton() {
    return SINGLETON;
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return JournalLogger::new;
  }

  @Override
  public String getLoggerFactoryClassStr() {
    return JournalLogger.class.getName();
  }
}
