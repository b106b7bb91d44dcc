package org.yunti.table;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.yunti.table.schema.Column;

/** A table as a map. AbstractMap refuses changes; its equals and hashCode read all rows, as Map says. */
final class TableMap<K, V> extends AbstractMap<K, V> {
  private final Table table;
  private final Class<K> keyType;
  private final TypedTable<V> values;
  private final Column[] columns;

  TableMap(Table table, Class<K> keyType, TypedTable<V> values) {
    this.table = table;
    this.keyType = keyType;
    this.values = values;
    columns = table.schema().key().toArray(new Column[0]);
    if (table.hasSeveral()) {
      throw new IllegalStateException(table.name() + " has several rows for a key; a map has one value for each");
    }
    if (!fits()) {
      throw new IllegalArgumentException(keyType.getName() + " does not hold the keys of " + table.name() + ": "
          + table.schema().key());
    }
  }

  private boolean fits() {
    if (columns.length > 1) {
      return keyType == List.class;
    }
    switch (columns[0].type()) {
      case BOOL:
        return keyType == Boolean.class;
      case UTF8:
        return keyType == String.class;
      case BYTES:
        return keyType == byte[].class;
      default:
        return !keyType.isPrimitive() && Getter.integer(columns[0], keyType) != null;
    }
  }

  @Override
  public int size() {
    return (int) Math.min(Integer.MAX_VALUE, table.size());
  }

  @Override
  public V get(Object key) {
    if (key instanceof List && columns.length > 1) {
      Object[] all = ((List<?>) key).toArray();
      return isKey(all) ? values.get(all) : null;
    }
    return keyType.isInstance(key) ? values.get(new Object[] {key}) : null;
  }

  /** Returns true if values have the types of the key's columns: a map has no other keys, and refuses none. */
  private boolean isKey(Object[] all) {
    boolean is = all.length == columns.length;
    for (int i = 0; is && i < all.length; i++) {
      switch (columns[i].type()) {
        case BOOL:
          is = all[i] instanceof Boolean;
          break;
        case UTF8:
          is = all[i] instanceof String;
          break;
        case BYTES:
          is = all[i] instanceof byte[];
          break;
        default:
          is = all[i] instanceof Long;
      }
    }
    return is;
  }

  @Override
  public boolean containsKey(Object key) {
    return get(key) != null;
  }

  private K keyOf(Row row) {
    if (columns.length == 1) {
      return keyType.cast(Getter.of(columns[0], keyType, true)
          .read(row.source, row.valueBegin(columns[0]), row.valueEnd(columns[0])));
    }
    List<Object> all = new ArrayList<>();
    for (Column column : columns) {
      all.add(row.get(column.number()));
    }
    return keyType.cast(all);
  }

  @Override
  public Set<Entry<K, V>> entrySet() {
    return new AbstractSet<Entry<K, V>>() {
      @Override
      public int size() {
        return TableMap.this.size();
      }

      @Override
      public boolean contains(Object entry) {
        if (!(entry instanceof Map.Entry)) {
          return false;
        }
        V value = TableMap.this.get(((Map.Entry<?, ?>) entry).getKey());
        return value != null && value.equals(((Map.Entry<?, ?>) entry).getValue());
      }

      @Override
      public Iterator<Entry<K, V>> iterator() {
        Iterator<Row> rows = table.allRows().iterator();
        return new Iterator<Entry<K, V>>() {
          @Override
          public boolean hasNext() {
            return rows.hasNext();
          }

          @Override
          public Entry<K, V> next() {
            Row row = rows.next();
            return new SimpleImmutableEntry<>(keyOf(row), values.of(row));
          }
        };
      }
    };
  }
}
