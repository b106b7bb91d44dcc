package org.yunti.web.oracle.model;

import org.yunti.web.oracle.Journal;

/** Person with more members in another class: entries cached for a person must not serve a robot. */
public final class Robot extends Person {
  public Robot(String name) {
    super(name);
  }

  @Override
  protected String kind() {
    return "robot";
  }

  /** Returns a property that a person lacks. */
  public String getModel() {
    Journal.note("robot.getModel");
    return "R2";
  }

  /** Returns a value by key: Velocity calls get(String) for a missing property. */
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
