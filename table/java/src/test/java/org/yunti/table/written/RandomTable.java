package org.yunti.table.written;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A random table with its expected rows. */
public final class RandomTable {
  private static final String[] SCALARS = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64",
      "utf8", "bytes"};
  private static final String[] KEYS = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "utf8", "bytes",
      "utf8"};

  public final TableWriter writer;
  public final String columns;
  public final List<String> key = new ArrayList<>();
  public final boolean isSeveral;
  /** Rows in the order of the input. */
  public final List<Object[]> rows = new ArrayList<>();
  public final boolean isSorted;
  private final boolean isJson;
  private final Random random;

  public RandomTable(long seed) {
    this(seed, false);
  }

  /** Makes a table; if it is to be JSON, bytes are texts. */
  public RandomTable(long seed, boolean isJson) {
    this.isJson = isJson;
    random = new Random(seed);
    List<String> list = new ArrayList<>();
    int keys = random.nextInt(4) == 0 ? 2 + random.nextInt(2) : 1;
    int others = random.nextInt(7);
    for (int i = 0; i < keys; i++) {
      list.add("k" + i + ":" + KEYS[random.nextInt(KEYS.length)]);
      key.add("k" + i);
    }
    for (int i = 0; i < others; i++) {
      String type = random.nextInt(5) == 0 ? "dict" : type(0);
      list.add(random.nextInt(list.size() + 1), "c" + i + ":" + type + (random.nextInt(3) == 0 ? "?" : ""));
    }
    columns = String.join(",", list);
    writer = new TableWriter(columns, key.toArray(new String[0])).partSlots(1 << 5 + random.nextInt(7));
    isSeveral = random.nextInt(3) == 0;
    if (isSeveral) {
      writer.several();
    }
    isSorted = random.nextInt(4) > 0;
    if (isSorted) {
      writer.sorted();
    }
    int count = random.nextInt(10) == 0 ? 0 : 1 + random.nextInt(random.nextInt(5) == 0 ? 3000 : 200);
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < count; i++) {
      Object[] row = new Object[list.size()];
      for (int c = 0; c < row.length; c++) {
        Spec column = writer.columns().get(c);
        row[c] = column.nullable && random.nextInt(3) == 0 ? null : value(column);
      }
      if (isSeveral || seen.add(keyText(row))) {
        rows.add(row);
        writer.add(row);
      }
    }
  }

  private String type(int depth) {
    int choice = random.nextInt(10);
    if (choice == 0 && depth < 3) {
      return "list<" + type(depth + 1) + (random.nextBoolean() ? "?" : "") + ">";
    }
    if (choice == 1 && depth < 3) {
      List<String> fields = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        fields.add("f" + i + ":" + type(depth + 1) + (random.nextBoolean() ? "?" : ""));
      }
      return "record<" + String.join(",", fields) + ">";
    }
    return SCALARS[random.nextInt(SCALARS.length)];
  }

  private Object value(Spec column) {
    switch (column.type()) {
      case "bool":
        return random.nextBoolean();
      case "f32":
        return random.nextFloat();
      case "f64":
        return random.nextGaussian();
      case "utf8":
        return text();
      case "dict":
        return "city " + random.nextInt(20) + "ü".repeat(random.nextInt(3));
      case "bytes":
        if (isJson) {
          return bytes(text());
        }
        byte[] bytes = new byte[length()];
        random.nextBytes(bytes);
        return bytes;
      case "record":
        return column.children().stream().map(this::nullable).toArray();
      case "list":
        List<Object> list = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          list.add(nullable(column.children().get(0)));
        }
        return list;
      default:
        return number(column);
    }
  }

  private Object nullable(Spec column) {
    return column.nullable && random.nextInt(3) == 0 ? null : value(column);
  }

  private int length() {
    return random.nextInt(50) == 0 ? 100 + random.nextInt(3000) : random.nextInt(20);
  }

  private String text() {
    StringBuilder out = new StringBuilder();
    int alphabet = random.nextInt(3);
    for (int i = length(); i > 0; i--) {
      out.appendCodePoint(alphabet == 0 ? 'a' + random.nextInt(2) : alphabet == 1 ? 'a' + random.nextInt(26)
          : 0x60 + random.nextInt(4) * 0x7000 % 0xD000 + random.nextInt(64));
    }
    return out.toString();
  }

  private Object number(Spec column) {
    int bits = 8 * column.width();
    long number = random.nextInt(4) == 0 ? random.nextInt(5) - 2 : random.nextLong();
    return column.isSigned() ? number << 64 - bits >> 64 - bits : number << 64 - bits >>> 64 - bits;
  }

  /** Returns a key's values as a text, to compare keys. */
  public String keyText(Object[] row) {
    StringBuilder out = new StringBuilder();
    for (Object value : keyOf(row)) {
      out.append(value instanceof byte[] bytes ? java.util.HexFormat.of().formatHex(bytes) : value).append('\0');
    }
    return out.toString();
  }

  public Object[] keyOf(Object[] row) {
    List<Object> of = new ArrayList<>();
    for (String name : key) {
      for (int i = 0; i < row.length; i++) {
        if (writer.columns().get(i).name().equals(name)) {
          of.add(row[i]);
        }
      }
    }
    return of.toArray();
  }

  /** Returns a key that the table may or may not have. */
  public Object[] otherKey() {
    return key.stream()
        .map(name -> value(writer.columns().stream().filter(of -> of.name().equals(name)).findAny().get()))
        .toArray();
  }

  /** Compares two keys in the order of keys. */
  public int compareKeys(Object[] a, Object[] b) {
    for (int i = 0; i < a.length; i++) {
      int order;
      if (a[i] instanceof Boolean is) {
        order = is.compareTo((Boolean) b[i]);
      } else if (a[i] instanceof Number) {
        String name = key.get(i);
        boolean signed = writer.columns().stream().anyMatch(of -> of.name().equals(name) && of.isSigned());
        long x = ((Number) a[i]).longValue();
        long y = ((Number) b[i]).longValue();
        order = signed ? Long.compare(x, y) : Long.compareUnsigned(x, y);
      } else {
        order = java.util.Arrays.compareUnsigned(bytes(a[i]), bytes(b[i]));
      }
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private static byte[] bytes(Object value) {
    return value instanceof String text ? text.getBytes(java.nio.charset.StandardCharsets.UTF_8) : (byte[]) value;
  }
}
