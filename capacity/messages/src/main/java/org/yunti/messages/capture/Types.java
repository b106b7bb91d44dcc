package org.yunti.messages.capture;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;

/** Names of message types, with what a collection holds: {@code java.util.List<shop.Order>}. */
final class Types {
  private Types() {}

  static String name(Object message) {
    Class<?> type = message.getClass();
    if (type.isArray()) {
      return type.getComponentType().getTypeName() + "[]";
    }
    boolean isOfJdk = type.getClassLoader() == null;
    if (isOfJdk && message instanceof Map<?, ?> map) {
      return "java.util.Map" + (map.isEmpty() ? "" : "<" + first(map.keySet()) + ", " + first(map.values()) + ">");
    }
    if (isOfJdk && message instanceof Collection<?> all) {
      return "java.util.Collection" + (all.isEmpty() ? "" : "<" + first(all) + ">");
    }
    return type.getTypeName();
  }

  private static String first(Collection<?> all) {
    Iterator<?> it = all.iterator();
    Object first = it.hasNext() ? it.next() : null;
    return first == null ? "?" : first.getClass().getTypeName();
  }
}
