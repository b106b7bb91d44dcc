package org.yunti.table.schema;

/** A column of a table, a field of a record, or the elements of a list. */
public final class Column {
  private final String name;
  private final Type type;
  private final boolean nullable;
  private final Layout fields;
  private final Column element;
  int number;
  int at;
  int nullBit = -1;
  int dictionary = -1;

  Column(String name, Type type, boolean nullable, Layout fields, Column element) {
    this.name = name;
    this.type = type;
    this.nullable = nullable;
    this.fields = fields;
    this.element = element;
  }

  public String name() {
    return name;
  }

  public Type type() {
    return type;
  }

  /** Returns true if values may be missing. */
  public boolean isNullable() {
    return nullable;
  }

  /** Returns its number in the table or record. */
  public int number() {
    return number;
  }

  /** Returns the fields of a {@code record}; null for other types. */
  public Layout fields() {
    return fields;
  }

  /** Returns the elements of a {@code list}; null for other types. */
  public Column element() {
    return element;
  }

  /** Returns the offset of a value of fixed width in its row, or the number among the values of variable length. */
  public int at() {
    return at;
  }

  /** Returns the number of the bit of a missing value; -1 if the column is not nullable. */
  public int nullBit() {
    return nullBit;
  }

  /** Returns the number of the dictionary of a {@code dict}. */
  public int dictionary() {
    return dictionary;
  }

  @Override
  public String toString() {
    String of = "";
    if (type == Type.LIST) {
      of = "<" + element + ">";
    } else if (type == Type.RECORD) {
      String all = fields.toString();
      of = "<" + all.substring(1, all.length() - 1) + ">";
    }
    return (name.isEmpty() ? "" : name + ":") + type + of + (nullable ? "?" : "");
  }
}
