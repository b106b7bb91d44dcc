package org.yunti.table.frozen;

/** First bytes of objects. */
final class Tag {
  static final int BOOLEAN = 1;
  static final int BYTE = 2;
  static final int SHORT = 3;
  static final int CHAR = 4;
  static final int INT = 5;
  static final int LONG = 6;
  static final int FLOAT = 7;
  static final int DOUBLE = 8;
  static final int TEXT = 9;
  static final int ENUM = 10;
  static final int RECORD = 11;
  static final int LIST = 12;
  static final int SET = 13;
  static final int MAP = 14;
  static final int OPTIONAL = 15;
  static final int ARRAY = 16;
  static final int INSTANT = 17;
  static final int DURATION = 18;
  static final int DATE = 19;
  static final int TIME = 20;
  static final int DATE_TIME = 21;

  /** Kind of a component that is a reference; the others are tags of numbers. */
  static final int REFERENCE = 0;

  private static final Class<?>[] PRIMITIVES = {null, boolean.class, byte.class, short.class, char.class, int.class,
      long.class, float.class, double.class};
  private static final int[] WIDTHS = {4, 1, 1, 2, 2, 4, 8, 4, 8};

  private Tag() {
  }

  /** Returns the tag of a primitive type, REFERENCE for another one. */
  static int of(Class<?> type) {
    for (int tag = BOOLEAN; tag <= DOUBLE; tag++) {
      if (PRIMITIVES[tag] == type) {
        return tag;
      }
    }
    return REFERENCE;
  }

  static Class<?> primitive(int tag) {
    return PRIMITIVES[tag];
  }

  /** Returns the bytes of a component or element of a kind. */
  static int width(int kind) {
    return WIDTHS[kind];
  }
}
