package org.yunti.web.oracle.model;

/** Not public: only what the interface has may be called from a template. */
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
