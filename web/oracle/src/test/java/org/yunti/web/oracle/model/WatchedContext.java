package org.yunti.web.oracle.model;

import org.apache.velocity.VelocityContext;
import org.yunti.web.oracle.Journal;

/** A context that notes writes and removals, and questions too where a case wants them counted. */
public final class WatchedContext extends VelocityContext {
  private final boolean questions;

  public WatchedContext(boolean questions) {
    this.questions = questions;
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
    if (questions) {
      Journal.note("context get " + key);
    }
    return super.internalGet(key);
  }

  @Override
  public boolean internalContainsKey(String key) {
    if (questions) {
      Journal.note("context contains " + key);
    }
    return super.internalContainsKey(key);
  }
}
