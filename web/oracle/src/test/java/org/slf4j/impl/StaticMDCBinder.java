package org.slf4j.impl;

import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;

/** Binding that keeps the MDC: Velocity writes a template's location there if configured. */
public final class StaticMDCBinder {
  public static final StaticMDCBinder SINGLETON = new StaticMDCBinder();

  private StaticMDCBinder() {}

  public static StaticMDCBinder getSingleton() {
    return SINGLETON;
  }

  public MDCAdapter getMDCA() {
    return new BasicMDCAdapter();
  }

  public String getMDCAdapterClassStr() {
    return BasicMDCAdapter.class.getName();
  }
}
