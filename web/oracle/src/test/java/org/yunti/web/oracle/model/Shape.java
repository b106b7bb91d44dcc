package org.yunti.web.oracle.model;

/** Public interface of classes that are not public. */
public interface Shape {
  String getTitle();

  default String describe(Object detail) {
    return "shape " + getTitle() + ' ' + detail;
  }

  static Shape hidden(String title) {
    return new Hidden(title);
  }
}
