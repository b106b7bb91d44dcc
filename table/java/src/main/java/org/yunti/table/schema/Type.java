package org.yunti.table.schema;

/** A type of values, in the order of its number in the file. */
public enum Type {
  BOOL(1), I8(1), I16(2), I32(4), I64(8), U8(1), U16(2), U32(4), U64(8), F32(4), F64(8), UTF8(0), BYTES(0), DICT(4),
  RECORD(0), LIST(0);

  private static final Type[] ALL = values();
  private final int width;

  Type(int width) {
    this.width = width;
  }

  /** Returns the bytes of a value; 0 if values have different lengths. */
  public int width() {
    return width;
  }

  /** Returns true for {@code bool} and integers. */
  public boolean isInteger() {
    return ordinal() <= U64.ordinal();
  }

  public boolean isUnsigned() {
    return U8.ordinal() <= ordinal() && ordinal() <= U64.ordinal();
  }

  /** Returns true if an integer type, or {@code bool}, has a number among its values. */
  public boolean holds(long number) {
    int bits = this == BOOL ? 1 : 8 * width;
    if (bits == Long.SIZE) {
      return true;
    }
    int unused = Long.SIZE - bits;
    return this == BOOL || isUnsigned() ? number >>> bits == 0 : number << unused >> unused == number;
  }

  static Type of(int number) {
    return number < ALL.length ? ALL[number] : null;
  }

  /** Returns the name that {@code yunti table build} has for it. */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
