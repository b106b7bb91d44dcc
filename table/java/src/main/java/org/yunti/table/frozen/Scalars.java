package org.yunti.table.frozen;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.function.ToIntFunction;

/** Bytes of objects that refer to no other. Two are equal if their bytes are. */
final class Scalars {
  private static final Class<?>[] BOXES = {null, Boolean.class, Byte.class, Short.class, Character.class, Integer.class,
      Long.class, Float.class, Double.class};

  private Scalars() {
  }

  /**
   * Returns the bytes of an object with its tag, or null if it is no scalar.
   *
   * @param enums returns the number of a class of enums, or -1
   */
  static byte[] bytes(Object value, ToIntFunction<Class<?>> enums) {
    Output out = new Output();
    for (int tag = Tag.BOOLEAN; tag <= Tag.DOUBLE; tag++) {
      if (BOXES[tag] == value.getClass()) {
        out.number(tag, 1);
        out.primitive(tag, value);
        return out.toBytes();
      }
    }
    if (value instanceof String) {
      out.number(Tag.TEXT, 1);
      return out.text((String) value) ? out.toBytes() : null;
    }
    if (value instanceof Enum) {
      int number = enums.applyAsInt(((Enum<?>) value).getDeclaringClass());
      out.number(Tag.ENUM, 1);
      out.leb(number);
      return number >= 0 && out.text(((Enum<?>) value).name()) ? out.toBytes() : null;
    }
    return time(value, out) ? out.toBytes() : null;
  }

  private static boolean time(Object value, Output out) {
    if (value instanceof Instant) {
      pair(out, Tag.INSTANT, ((Instant) value).getEpochSecond(), ((Instant) value).getNano());
    } else if (value instanceof Duration) {
      pair(out, Tag.DURATION, ((Duration) value).getSeconds(), ((Duration) value).getNano());
    } else if (value instanceof LocalDate) {
      pair(out, Tag.DATE, ((LocalDate) value).toEpochDay(), 0);
    } else if (value instanceof LocalTime) {
      pair(out, Tag.TIME, 0, ((LocalTime) value).toNanoOfDay());
    } else if (value instanceof LocalDateTime) {
      LocalDateTime of = (LocalDateTime) value;
      pair(out, Tag.DATE_TIME, of.toLocalDate().toEpochDay(), of.toLocalTime().toNanoOfDay());
    } else {
      return false;
    }
    return true;
  }

  private static void pair(Output out, int tag, long first, long second) {
    out.number(tag, 1);
    out.number(first, 8);
    out.number(second, 8);
  }
}
