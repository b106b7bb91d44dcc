package org.yunti.table.schema;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;

import org.yunti.table.TableException;

/** Reads columns: section 0 of a file, or those of a server's response. */
public final class SchemaReader {
  private static final int DEPTH_MAX = 16;

  private final byte[] bytes;
  private final Function<String, TableException> fault;
  /** True: a {@code dict} may be among the columns. */
  private final boolean hasDictionaries;
  private int at;
  private int dictionaries;

  private SchemaReader(byte[] bytes, int at, boolean hasDictionaries, Function<String, TableException> fault) {
    this.bytes = bytes;
    this.at = at;
    this.hasDictionaries = hasDictionaries;
    this.fault = fault;
  }

  /** Reads section 0. */
  public static Schema read(byte[] bytes, String path) {
    return new SchemaReader(bytes, 0, true, what -> new TableException(path + ": the table is damaged: " + what
        + "; build it again")).schema();
  }

  /**
   * Reads the end of the response of {@code open}: the types and names of the key's columns, and the columns of rows.
   *
   * @param fault makes the exception for bytes that are wrong
   */
  public static Schema readOpened(byte[] bytes, int at, Function<String, TableException> fault) {
    return new SchemaReader(bytes, at, false, fault).opened();
  }

  /** The key's columns need not be among those of the rows. */
  private Schema opened() {
    Column[] key = new Column[number(2)];
    require(key.length > 0, "its key has no columns");
    for (int i = 0; i < key.length; i++) {
      Type type = Type.of(number(1));
      require(isOfKey(type), "a column of its key has a wrong type");
      key[i] = new Column(name(), type, false, null, null);
      key[i].number = -1;
    }
    Layout layout = layout(0);
    require(at == bytes.length, "there are bytes behind its columns");
    for (int i = 0; i < key.length; i++) {
      if (layout.has(key[i].name())) {
        Column column = layout.column(layout.column(key[i].name()));
        require(column.type() == key[i].type() && !column.isNullable(), "a column of its key has two types");
        key[i] = column;
      }
    }
    return new Schema(layout, key);
  }

  private static boolean isOfKey(Type type) {
    return type != null && (type.isInteger() || type == Type.UTF8 || type == Type.BYTES);
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
      require(!key[i].isNullable() && isOfKey(key[i].type()) && seen.add(key[i]),
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
    String name = name();
    Layout fields = type == Type.RECORD ? layout(depth + 1) : null;
    Column element = type == Type.LIST ? column(depth + 1) : null;
    Column column = new Column(name, type, flags == 1, fields, element);
    if (type == Type.DICT) {
      require(depth == 0 && hasDictionaries, "a dict is where none may be");
      column.dictionary = dictionaries++;
    }
    return column;
  }

  private String name() {
    int length = number(2);
    require(at + length <= bytes.length, "its schema is cut");
    String name = new String(bytes, at, length, StandardCharsets.UTF_8);
    at += length;
    return name;
  }

  private int number(int width) {
    require(at + width <= bytes.length, "its schema is cut");
    int low = bytes[at++] & 0xff;
    return width == 1 ? low : low | (bytes[at++] & 0xff) << 8;
  }

  private void require(boolean is, String what) {
    if (!is) {
      throw fault.apply(what);
    }
  }
}
