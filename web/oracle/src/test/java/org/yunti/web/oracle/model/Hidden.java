package org.yunti.web.oracle.model;

/** Class that is not public: a template may only call the methods of its interface. */
final class Hidden implements Shape {
  private final String title;

  Hidden(String title) {
    this.title = title;
  }

  @Override
  public String getTitle() {
    return title;
  }

  public String getSecret() {
    return "secret";
  }

  @Override
  public String toString() {
    return "hidden " + title;
  }
}
