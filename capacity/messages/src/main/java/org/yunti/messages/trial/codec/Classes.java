package org.yunti.messages.trial.codec;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Classes of the objects of messages, in the order in which they are met. */
final class Classes {
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Class<?>> all = new LinkedHashSet<>();

  private Classes() {}

  static Set<Class<?>> of(Collection<?> messages) {
    Classes classes = new Classes();
    messages.forEach(classes::add);
    return classes.all;
  }

  private void add(Object it) {
    if (it == null || !seen.add(it)) {
      return;
    }
    Class<?> type = it instanceof Enum<?> constant ? constant.getDeclaringClass() : it.getClass();
    all.add(type);
    if (it instanceof Map<?, ?> map) {
      map.keySet().forEach(this::add);
      map.values().forEach(this::add);
    } else if (it instanceof Collection<?> collection) {
      collection.forEach(this::add);
    } else if (it instanceof Optional<?> optional) {
      optional.ifPresent(this::add);
    } else if (type.isArray() && !type.getComponentType().isPrimitive()) {
      for (int i = 0; i < Array.getLength(it); i++) {
        add(Array.get(it, i));
      }
    } else if (type.getClassLoader() != null && !(it instanceof Enum)) {
      fields(it, type);
    }
  }

  private void fields(Object it, Class<?> type) {
    for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
      for (Field field : each.getDeclaredFields()) {
        if ((field.getModifiers() & Modifier.STATIC) == 0 && !field.getType().isPrimitive()) {
          try {
            field.setAccessible(true);
            add(field.get(it));
          } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
          }
        }
      }
    }
  }
}
