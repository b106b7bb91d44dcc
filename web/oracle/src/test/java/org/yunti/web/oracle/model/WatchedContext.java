package org.yunti.web.oracle.model;

import org.apache.velocity.VelocityContext;
import org.yunti.web.oracle.Journal;

/** Context that records writes and removals, and on request also reads. */
public final class WatchedContext extends VelocityContext {
  private final boolean recordsReads;

  public WatchedContext(boolean recordsReads) {
    this.recordsReads = recordsReads;
  }

  @Override
  public Object internalPut(String key, Object value) {
    Journal.note("context put " + key + (value == null ? " null" : " " + value.getClass().getSimpleName()));
    return super.internalPut(key, value);
  }

  @Override
  public Object internalRemove(String key) {
    Journal.note("context remove " + key);
    return super.internalRemove(key);
  }

  @Override
  public Object internalGet(String key) {
    if (recordsReads) {
      Journal.note("context get " + key);
    }
    return super.internalGet(key);
  }

  @Override
  public boolean internalContainsKey(String key) {
    if (recordsReads) {
      Journal.note("context contains " + key);
    }
    return super.internalContainsKey(key);
  }
}
