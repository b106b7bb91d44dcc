package org.yunti.messages.trial;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How to make a collection of the JDK again.
 *
 * @param type class with a public constructor, whose object is filled; null for another one
 * @param name name of the class in the service
 * @param note what is unlike the service; null if nothing is
 */
record Collections(Class<?> type, String name, boolean isMap, String note) {
  static Collections of(String name, boolean isMap) {
    try {
      Class<?> type = Class.forName(name);
      type.getConstructor();
      return new Collections(type, name, isMap, null);
    } catch (ReflectiveOperationException e) {
      boolean isKnown = name.startsWith("java.util.ImmutableCollections$") || name.startsWith("java.util.Collections$")
          || name.startsWith("java.util.Arrays$") || name.startsWith("java.util.Enum")
          || name.endsWith("EnumSet");
      String made = isMap ? "LinkedHashMap" : isSet(name) ? "LinkedHashSet" : "ArrayList";
      return new Collections(null, name, isMap, isKnown ? null : name + " is made again as " + made);
    }
  }

  private static boolean isSet(String name) {
    return name.contains("Set") && !name.contains("List");
  }

  /** Returns the empty object to fill. */
  Object start() throws ReflectiveOperationException {
    if (type != null) {
      return type.getConstructor().newInstance();
    }
    return isMap ? new LinkedHashMap<>() : isSet(name) ? new LinkedHashSet<>() : new ArrayList<>();
  }

  /** Returns true if the object to fill is the result. */
  boolean isSame() {
    return type != null || note != null;
  }

  /** Fills the object, and returns the result. For a map, the values are keys and values in turn. */
  @SuppressWarnings("unchecked")
  Object end(Object started, List<Object> values) {
    if (isMap) {
      Map<Object, Object> map = (Map<Object, Object>) started;
      for (int i = 0; i < values.size(); i += 2) {
        map.put(values.get(i), values.get(i + 1));
      }
      return type != null ? map : otherMap(map);
    }
    Collection<Object> collection = (Collection<Object>) started;
    collection.addAll(values);
    return type != null ? collection : other(collection);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private Object otherMap(Map<Object, Object> map) {
    if (name.startsWith("java.util.ImmutableCollections$")) {
      return Map.copyOf(map);
    } else if (name.contains("$Unmodifiable") || name.contains("$Empty") || name.contains("$Singleton")) {
      return java.util.Collections.unmodifiableMap(map);
    } else if (name.contains("$Synchronized")) {
      return java.util.Collections.synchronizedMap(map);
    } else if (name.equals("java.util.EnumMap") && !map.isEmpty()) {
      return new EnumMap((Map<Enum, Object>) (Map) map);
    }
    return map;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private Object other(Collection<Object> collection) {
    if (name.startsWith("java.util.ImmutableCollections$")) {
      return collection instanceof Set ? Set.copyOf(collection) : unmodifiable((List<Object>) collection);
    } else if (name.equals("java.util.Arrays$ArrayList")) {
      return Arrays.asList(collection.toArray());
    } else if (name.contains("$Unmodifiable") || name.contains("$Empty") || name.contains("$Singleton")) {
      return collection instanceof Set<Object> set ? java.util.Collections.unmodifiableSet(set)
          : java.util.Collections.unmodifiableList((List<Object>) collection);
    } else if (name.contains("$Synchronized") && collection instanceof List<Object> list) {
      return java.util.Collections.synchronizedList(list);
    } else if (name.endsWith("EnumSet") && !collection.isEmpty()) {
      return EnumSet.copyOf((Collection<Enum>) (Collection) collection);
    }
    return collection;
  }

  private static List<Object> unmodifiable(List<Object> list) {
    // List.of refuses null, which lists of streams may hold.
    return list.contains(null) ? java.util.Collections.unmodifiableList(list) : List.copyOf(list);
  }
}
