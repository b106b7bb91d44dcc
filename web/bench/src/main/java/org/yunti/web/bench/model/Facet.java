package org.yunti.web.bench.model;

import java.util.List;

/** Property of goods that narrows a search. */
public final class Facet {
  private final String name;
  private final List<FacetValue> values;

  public Facet(String name, List<FacetValue> values) {
    this.name = name;
    this.values = values;
  }

  public String getName() {
    return name;
  }

  public List<FacetValue> getValues() {
    return values;
  }
}
