package org.yunti.table.written;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A column of a table that tests write: {@code name:utf8?}, {@code tags:list<utf8>}, {@code home:record<x:i32,y:f64>}.
 * This and the writer know nothing of the reader's classes: they are a second reading of docs/formats/ytab.md.
 */
public final class Spec {
  static final List<String> TYPES = List.of("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64",
      "utf8", "bytes", "dict", "record", "list");
  private static final int[] WIDTHS = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 0, 0, 4, 0, 0};

  final String name;
  final int type;
  final boolean nullable;
  final List<Spec> children = new ArrayList<>();

  private Spec(String name, String of) {
    this.name = name;
    nullable = of.endsWith("?");
    String bare = nullable ? of.substring(0, of.length() - 1) : of;
    if (bare.startsWith("list<")) {
      type = TYPES.indexOf("list");
      children.add(new Spec("", bare.substring(5, bare.length() - 1)));
    } else if (bare.startsWith("record<")) {
      type = TYPES.indexOf("record");
      children.addAll(parse(bare.substring(7, bare.length() - 1)));
    } else {
      type = TYPES.indexOf(bare);
      if (type < 0) {
        throw new IllegalArgumentException(of);
      }
    }
  }

  /** Parses columns with commas between them. */
  static List<Spec> parse(String all) {
    List<Spec> list = new ArrayList<>();
    int depth = 0;
    int begin = 0;
    for (int i = 0; i <= all.length(); i++) {
      char c = i == all.length() ? ',' : all.charAt(i);
      depth += c == '<' ? 1 : c == '>' ? -1 : 0;
      if (c == ',' && depth == 0 && i > begin) {
        String one = all.substring(begin, i);
        int colon = one.indexOf(':');
        list.add(new Spec(one.substring(0, colon), one.substring(colon + 1)));
        begin = i + 1;
      }
    }
    return list;
  }

  public String name() {
    return name;
  }

  public String type() {
    return TYPES.get(type);
  }

  public boolean nullable() {
    return nullable;
  }

  public List<Spec> children() {
    return children;
  }

  /** Returns the column as it is given to {@code yunti table build}. */
  @Override
  public String toString() {
    String inner = children.isEmpty() ? "" : children.stream().map(Spec::toString)
        .collect(java.util.stream.Collectors.joining(",", "<", ">"));
    return (name.isEmpty() ? "" : name + ":") + type() + inner + (nullable ? "?" : "");
  }

  int width() {
    return WIDTHS[type];
  }

  boolean isInteger() {
    return type <= 8;
  }

  boolean isSigned() {
    return 1 <= type && type <= 4;
  }

  void write(ByteArrayOutputStream out) {
    out.write(type);
    out.write(nullable ? 1 : 0);
    // An element has the empty name.
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    Row.number(out, utf8.length, 2);
    out.writeBytes(utf8);
    if (type().equals("record")) {
      Row.number(out, children.size(), 2);
      children.forEach(child -> child.write(out));
    } else if (type().equals("list")) {
      children.get(0).write(out);
    }
  }

  /** Bytes of rows. */
  static final class Row {
    private Row() {
    }

    static void number(ByteArrayOutputStream out, long number, int bytes) {
      for (int i = 0; i < bytes; i++) {
        out.write((int) (number >>> 8 * i));
      }
    }

    static void leb(ByteArrayOutputStream out, long number) {
      long rest = number;
      for (; rest >= 0x80; rest >>>= 7) {
        out.write((int) rest | 0x80);
      }
      out.write((int) rest);
    }

    /** Returns the bytes of a row. A value of a dict is the number of its text. */
    static byte[] of(List<Spec> columns, Object... values) {
      ByteArrayOutputStream fixed = new ByteArrayOutputStream();
      ByteArrayOutputStream lengths = new ByteArrayOutputStream();
      ByteArrayOutputStream others = new ByteArrayOutputStream();
      int bits = (int) columns.stream().filter(column -> column.nullable).count();
      byte[] missing = new byte[(bits + 7) / 8];
      int bit = 0;
      for (int i = 0; i < columns.size(); i++) {
        Spec column = columns.get(i);
        byte[] value = values[i] == null ? new byte[column.width()] : column.value(values[i]);
        if (column.nullable) {
          missing[bit / 8] |= (byte) ((values[i] == null ? 1 : 0) << bit % 8);
          bit++;
        }
        if (column.width() > 0) {
          fixed.writeBytes(value);
        } else {
          leb(lengths, value.length);
          others.writeBytes(value);
        }
      }
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (byte[] part : new byte[][] {missing, fixed.toByteArray(), lengths.toByteArray(), others.toByteArray()}) {
        all.writeBytes(part);
      }
      return all.toByteArray();
    }
  }

  /** Returns the bytes of a value that is not missing. */
  byte[] value(Object value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    switch (type()) {
      case "bool" -> out.write((Boolean) value ? 1 : 0);
      case "f32" -> Row.number(out, Float.floatToRawIntBits((Float) value), 4);
      case "f64" -> Row.number(out, Double.doubleToRawLongBits((Double) value), 8);
      case "utf8" -> out.writeBytes(((String) value).getBytes(StandardCharsets.UTF_8));
      case "bytes" -> out.writeBytes((byte[]) value);
      case "record" -> out.writeBytes(Row.of(children, (Object[]) value));
      case "list" -> {
        List<?> list = (List<?>) value;
        Row.leb(out, list.size());
        List<Spec> columns = new ArrayList<>();
        list.forEach(one -> columns.add(children.get(0)));
        out.writeBytes(Row.of(columns, list.toArray()));
      }
      default -> Row.number(out, ((Number) value).longValue(), width());
    }
    return out.toByteArray();
  }
}
