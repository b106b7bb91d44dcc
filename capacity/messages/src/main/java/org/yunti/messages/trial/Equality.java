package org.yunti.messages.trial;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Compares what a library has read with what it wrote, field by field. Lists are equal to lists of another class, as
 * are sets and maps. Transient fields do not count.
 */
final class Equality {
  private final IdentityHashMap<Object, Object> seen = new IdentityHashMap<>();

  private Equality() {}

  /** Returns the first difference; null if there is none. */
  static String difference(Object expected, Object actual) {
    try {
      return new Equality().compare(expected, actual, "");
    } catch (IllegalAccessException | RuntimeException | StackOverflowError e) {
      return "cannot be compared: " + Trial.reason(e);
    }
  }

  private static String unlike(String place, Object expected, Object actual) {
    return (place.isEmpty() ? "the message" : place.substring(1)) + " is " + text(actual) + " instead of "
        + text(expected);
  }

  private static String text(Object it) {
    if (it == null) {
      return "null";
    }
    String text = it instanceof String || it instanceof Number || it.getClass().getName().startsWith("java.time.")
        ? "'" + it + "'" : "an object";
    return (text.length() > 40 ? text.substring(0, 40) + "..'" : text) + " (" + it.getClass().getTypeName() + ")";
  }

  private String compare(Object expected, Object actual, String place) throws IllegalAccessException {
    if (expected == actual) {
      return null;
    }
    if (expected == null || actual == null) {
      return unlike(place, expected, actual);
    }
    if (seen.put(expected, actual) == actual) {
      return null;
    }
    if (expected instanceof Map<?, ?> left && actual instanceof Map<?, ?> right) {
      return maps(left, right, place);
    }
    if (expected instanceof Set<?> left && actual instanceof Set<?> right && left.equals(right)) {
      return null;
    }
    if (expected instanceof List<?> == actual instanceof List<?> && expected instanceof Set<?> == actual instanceof Set<?>
        && expected instanceof Collection<?> left && actual instanceof Collection<?> right) {
      return sequences(left, right, place);
    }
    if (expected instanceof Optional<?> left && actual instanceof Optional<?> right) {
      return compare(left.orElse(null), right.orElse(null), place);
    }
    Class<?> type = expected.getClass();
    if (type != actual.getClass()) {
      return unlike(place, expected, actual);
    }
    if (type.isArray()) {
      int length = Array.getLength(expected);
      if (length != Array.getLength(actual)) {
        return unlike(place + ".length", length, Array.getLength(actual));
      }
      for (int i = 0; i < length; i++) {
        String difference = compare(Array.get(expected, i), Array.get(actual, i), place + "." + i);
        if (difference != null) {
          return difference;
        }
      }
      return null;
    }
    if (type.getClassLoader() == null || type.getName().startsWith("java.") || expected instanceof Enum) {
      boolean isEqual = expected.equals(actual)
          || (expected instanceof CharSequence || expected instanceof Number) && expected.toString().equals(actual.toString());
      return isEqual ? null : unlike(place, expected, actual);
    }
    for (Class<?> each = type; each != Object.class; each = each.getSuperclass()) {
      for (Field field : each.getDeclaredFields()) {
        if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) != 0 || field.isSynthetic()) {
          continue;
        }
        field.setAccessible(true);
        String difference = compare(field.get(expected), field.get(actual), place + "." + field.getName());
        if (difference != null) {
          return difference;
        }
      }
    }
    return null;
  }

  private String maps(Map<?, ?> left, Map<?, ?> right, String place) throws IllegalAccessException {
    if (left.size() != right.size()) {
      return unlike(place + ".size", left.size(), right.size());
    }
    for (Map.Entry<?, ?> entry : left.entrySet()) {
      if (!right.containsKey(entry.getKey())) {
        // Keys without equals: in their order.
        return sequences(new ArrayList<>(left.keySet()), new ArrayList<>(right.keySet()), place + ".keys");
      }
      String difference = compare(entry.getValue(), right.get(entry.getKey()), place + "." + entry.getKey());
      if (difference != null) {
        return difference;
      }
    }
    return null;
  }

  private String sequences(Collection<?> left, Collection<?> right, String place) throws IllegalAccessException {
    if (left.size() != right.size()) {
      return unlike(place + ".size", left.size(), right.size());
    }
    Iterator<?> others = right.iterator();
    int i = 0;
    for (Object each : left) {
      String difference = compare(each, others.next(), place + "." + i++);
      if (difference != null) {
        return difference;
      }
    }
    return null;
  }
}
