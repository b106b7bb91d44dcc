package org.yunti.web.bench.model;

/** Link of the header. */
public final class Category {
  private final int id;
  private final String name;

  public Category(int id, String name) {
    this.id = id;
    this.name = name;
  }

  public int getId() {
    return id;
  }

  public String getName() {
    return name;
  }
}
