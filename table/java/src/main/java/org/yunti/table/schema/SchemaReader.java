package org.yunti.table.schema;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

import org.yunti.table.TableException;

/** Reads section 0. */
public final class SchemaReader {
  private static final int DEPTH_MAX = 16;

  private final byte[] bytes;
  private final String path;
  private int at;
  private int dictionaries;

  private SchemaReader(byte[] bytes, String path) {
    this.bytes = bytes;
    this.path = path;
  }

  public static Schema read(byte[] bytes, String path) {
    return new SchemaReader(bytes, path).schema();
  }

  private Schema schema() {
    Layout layout = layout(0);
    Column[] key = new Column[number(2)];
    require(key.length > 0, "it has no key");
    Set<Column> seen = new HashSet<>();
    for (int i = 0; i < key.length; i++) {
      int number = number(2);
      require(number < layout.size(), "its key has no such column");
      key[i] = layout.column(number);
      Type type = key[i].type();
      require(!key[i].isNullable() && (type.isInteger() || type == Type.UTF8 || type == Type.BYTES) && seen.add(key[i]),
          "a column of its key has a wrong type");
    }
    return new Schema(layout, key);
  }

  private Layout layout(int depth) {
    Column[] columns = new Column[number(2)];
    require(columns.length > 0, "a record has no fields");
    Set<String> names = new HashSet<>();
    for (int i = 0; i < columns.length; i++) {
      columns[i] = column(depth);
      require(names.add(columns[i].name()), "two columns have one name");
    }
    return new Layout(columns);
  }

  private Column column(int depth) {
    require(depth <= DEPTH_MAX, "its columns are nested too deep");
    Type type = Type.of(number(1));
    require(type != null, "a column has an unknown type");
    int flags = number(1);
    require((flags & ~1) == 0, "a column has unknown flags");
    int length = number(2);
    require(at + length <= bytes.length, "its schema is cut");
    String name = new String(bytes, at, length, StandardCharsets.UTF_8);
    at += length;
    Layout fields = type == Type.RECORD ? layout(depth + 1) : null;
    Column element = type == Type.LIST ? column(depth + 1) : null;
    Column column = new Column(name, type, flags == 1, fields, element);
    if (type == Type.DICT) {
      require(depth == 0, "a dict is nested");
      column.dictionary = dictionaries++;
    }
    return column;
  }

  private int number(int width) {
    require(at + width <= bytes.length, "its schema is cut");
    int low = bytes[at++] & 0xff;
    return width == 1 ? low : low | (bytes[at++] & 0xff) << 8;
  }

  private void require(boolean is, String what) {
    if (!is) {
      throw new TableException(path + ": the table is damaged: " + what + "; build it again");
    }
  }
}
