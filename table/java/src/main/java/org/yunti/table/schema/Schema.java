package org.yunti.table.schema;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The columns of a table, and the columns of its key. */
public final class Schema {
  private final Layout layout;
  private final Column[] key;

  Schema(Layout layout, Column[] key) {
    this.layout = layout;
    this.key = key;
  }

  public Layout layout() {
    return layout;
  }

  public List<Column> columns() {
    return layout.columns();
  }

  /** Returns the columns of the key, in its order. */
  public List<Column> key() {
    List<Column> list = new ArrayList<>();
    Collections.addAll(list, key);
    return Collections.unmodifiableList(list);
  }

  /** Returns the number of a column. */
  public int column(String name) {
    return layout.column(name);
  }

  @Override
  public String toString() {
    return layout + " key " + key();
  }
}
