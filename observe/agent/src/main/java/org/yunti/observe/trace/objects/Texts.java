package org.yunti.observe.trace.objects;

import java.lang.reflect.Array;
import java.util.Collection;
import java.util.Map;

/** Values as short texts. If the target's toString throws, the text names the exception. */
public final class Texts {
  private static final int VALUE_MAX = 80;
  private static final int ALL_MAX = 800;

  private Texts() {}

  public static String ofAll(Object[] values) {
    StringBuilder text = new StringBuilder();
    for (Object value : values) {
      if (text.length() > ALL_MAX) {
        return text.append(", ..").toString();
      }
      text.append(text.length() == 0 ? "" : ", ").append(of(value));
    }
    return text.toString();
  }

  public static String of(Object value) {
    try {
      return cut(whole(value));
    } catch (Throwable e) {
      return cut(value.getClass().getName() + ", whose toString throws " + e.getClass().getName());
    }
  }

  private static String whole(Object value) {
    if (value == null) {
      return "null";
    }
    if (value instanceof String text) {
      return '"' + (text.length() > VALUE_MAX ? text.substring(0, VALUE_MAX) : text) + '"';
    }
    if (value instanceof Character letter) {
      return "'" + letter + "'";
    }
    if (value.getClass().isArray()) {
      return array(value);
    }
    // The text of a long collection would be cut anyway.
    if (value.getClass().getName().startsWith("java.util.")) {
      if (value instanceof Collection<?> all && all.size() > 8) {
        return value.getClass().getSimpleName() + " of " + all.size();
      }
      if (value instanceof Map<?, ?> all && all.size() > 8) {
        return value.getClass().getSimpleName() + " of " + all.size();
      }
    }
    return String.valueOf(value.toString());
  }

  private static String array(Object array) {
    int length = Array.getLength(array);
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < length && text.length() <= VALUE_MAX; i++) {
      Object value = Array.get(array, i);
      boolean isPlain = value == null || value instanceof String || value instanceof Number
          || value instanceof Boolean || value instanceof Character;
      text.append(i == 0 ? "" : ", ").append(isPlain ? whole(value) : value.getClass().getSimpleName());
    }
    return text.append(']').toString();
  }

  private static String cut(String text) {
    return text.length() <= VALUE_MAX ? text : text.substring(0, VALUE_MAX - 2) + "..";
  }
}
