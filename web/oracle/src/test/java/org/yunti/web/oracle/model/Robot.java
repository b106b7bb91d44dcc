package org.yunti.web.oracle.model;

import org.yunti.web.oracle.Journal;

/** The same members and more behind another class: what was cached for a person must not serve a robot. */
public final class Robot extends Person {
  public Robot(String name) {
    super(name);
  }

  @Override
  protected String kind() {
    return "robot";
  }

  /** Hides that a person has no such thing. */
  public String getModel() {
    Journal.note("robot.getModel");
    return "R2";
  }

  /** Where a property is not found, Velocity asks get(String). */
  public Object get(String key) {
    Journal.note("robot.get " + key);
    return key.startsWith("no") ? null : "got " + key;
  }

  public void put(String key, Object value) {
    Journal.note("robot.put " + key + ' ' + value);
  }

  public String pick(Robot r) {
    return "robot";
  }
}
