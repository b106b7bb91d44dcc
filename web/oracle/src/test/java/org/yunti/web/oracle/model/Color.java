package org.yunti.web.oracle.model;

/** An enumeration with a body, whose constants are of classes of their own. */
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
