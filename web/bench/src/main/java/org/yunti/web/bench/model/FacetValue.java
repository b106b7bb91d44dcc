package org.yunti.web.bench.model;

/** Value that narrows a search. */
public final class FacetValue {
  private final int id;
  private final String name;
  private final int count;
  private final boolean selected;

  public FacetValue(int id, String name, int count, boolean selected) {
    this.id = id;
    this.name = name;
    this.count = count;
    this.selected = selected;
  }

  public int getId() {
    return id;
  }

  public String getName() {
    return name;
  }

  public int getCount() {
    return count;
  }

  public boolean isSelected() {
    return selected;
  }
}
