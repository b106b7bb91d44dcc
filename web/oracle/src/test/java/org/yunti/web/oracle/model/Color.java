package org.yunti.web.oracle.model;

/** Enumeration whose constants have classes of their own. */
public enum Color {
  RED,
  GREEN {
    @Override
    public String hint() {
      return "go";
    }
  };

  public String hint() {
    return "stop";
  }
}
