package org.yunti.web.velocity.runtime;

import java.util.Collection;
import java.util.Map;
import org.apache.velocity.util.DuckType;

/**
 * Conversions of {@link DuckType}, with fast paths for common classes: DuckType reads by reflection from maps that
 * threads share.
 */
final class DuckTypes {
  private DuckTypes() {}

  /** True for classes of the JDK, which have none of DuckType's methods, {@code getAsString} and similar ones. */
  private static final ClassValue<Boolean> IS_OF_LIBRARY = new ClassValue<>() {
    @Override
    protected Boolean computeValue(Class<?> type) {
      return type.getClassLoader() == null && type.getName().startsWith("java.");
    }
  };

  static String string(Object value) {
    if (value instanceof String text) {
      return text;
    }
    if (IS_OF_LIBRARY.get(value.getClass())) {
      return value.toString();
    }
    return DuckType.asString(value);
  }

  static boolean isTrue(Object value, boolean checksEmpty) {
    if (value instanceof Boolean is) {
      return is;
    }
    if (value instanceof String text) {
      return !checksEmpty || !text.isEmpty();
    }
    if (value != null && IS_OF_LIBRARY.get(value.getClass())) {
      if (value instanceof Integer || value instanceof Long) {
        return !checksEmpty || ((Number) value).longValue() != 0;
      }
      if (value instanceof Collection<?> all) {
        return !checksEmpty || !all.isEmpty();
      }
      if (value instanceof Map<?, ?> all) {
        return !checksEmpty || !all.isEmpty();
      }
    }
    return DuckType.asBoolean(value, checksEmpty);
  }
}
