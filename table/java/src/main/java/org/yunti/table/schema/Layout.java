package org.yunti.table.schema;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The columns of a table or record, and where a row has their values.
 *
 * <pre>
 *   bits of missing values | values of fixed width | lengths of the others, LEB128 | their bytes
 *   0                      nullBytes               fixedBytes
 * </pre>
 */
public final class Layout {
  private final Column[] columns;
  private final Map<String, Column> byName = new HashMap<>();
  private final int nullBytes;
  private final int fixedBytes;
  private final int variables;

  Layout(Column[] columns) {
    this.columns = columns;
    int bits = 0;
    for (Column column : columns) {
      column.nullBit = column.isNullable() ? bits++ : -1;
    }
    nullBytes = (bits + 7) / 8;
    int fixed = nullBytes;
    int others = 0;
    for (int i = 0; i < columns.length; i++) {
      Column column = columns[i];
      column.number = i;
      int width = column.type().width();
      column.at = width == 0 ? others++ : fixed;
      fixed += width;
      byName.put(column.name(), column);
    }
    fixedBytes = fixed;
    variables = others;
  }

  public List<Column> columns() {
    return Collections.unmodifiableList(Arrays.asList(columns));
  }

  public int size() {
    return columns.length;
  }

  public Column column(int number) {
    return columns[number];
  }

  /** Returns the number of a column. */
  public int column(String name) {
    Column column = byName.get(name);
    if (column == null) {
      throw new IllegalArgumentException("there is no column " + name + "; the columns are " + this);
    }
    return column.number;
  }

  public boolean has(String name) {
    return byName.containsKey(name);
  }

  /** Returns the bytes of the bits of missing values. */
  public int nullBytes() {
    return nullBytes;
  }

  /** Returns the bytes before the lengths. */
  public int fixedBytes() {
    return fixedBytes;
  }

  /** Returns the number of values of variable length. */
  public int variables() {
    return variables;
  }

  @Override
  public String toString() {
    String all = Arrays.toString(columns);
    return "(" + all.substring(1, all.length() - 1) + ")";
  }
}
