package org.yunti.observe.trace.objects;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Way from an object of an event to what is taken there: names of fields and of methods without parameters, separated
 * by dots. It leads to objects of libraries, never of the JDK.
 */
public final class Way {
  /** Mark of a class that has no member of a name. */
  private static final Object NONE = new Object();

  /** Names from the object to its owner; empty: the object itself. */
  private final String[] owner;
  /** Names from the second object to the key; null: there is no key. */
  private final String[] key;
  private final Map<Class<?>, Object[]> members = new ConcurrentHashMap<>();

  public Way(String owner, String key) {
    this.owner = names(owner == null ? "" : owner);
    this.key = key == null ? null : names(key);
  }

  private static String[] names(String way) {
    return way.isEmpty() ? new String[0] : way.split("[.]");
  }

  /** Returns the owner; the object itself if the way does not lead on. */
  public Object owner(Object object) {
    Object found = follow(object, owner, 0);
    return found == null ? object : found;
  }

  /** Returns the key; null if there is none. */
  public Object key(Object object) {
    return key == null ? null : follow(object, key, owner.length);
  }

  private Object follow(Object from, String[] names, int offset) {
    Object at = from;
    for (int i = 0; at != null && i < names.length; i++) {
      Object member = member(at.getClass(), names[i], offset + i);
      try {
        at = member instanceof Method method ? method.invoke(at) : member instanceof Field field ? field.get(at) : null;
      } catch (ReflectiveOperationException | RuntimeException e) {
        return null;
      }
    }
    return at;
  }

  private Object member(Class<?> type, String name, int at) {
    Object[] ofType = members.computeIfAbsent(type, it -> new Object[owner.length + (key == null ? 0 : key.length)]);
    Object member = ofType[at];
    if (member == null) {
      member = find(type, name);
      ofType[at] = member;
    }
    return member;
  }

  private static Object find(Class<?> type, String name) {
    for (Class<?> of = type; of != null; of = of.getSuperclass()) {
      try {
        AccessibleObject member = memberOf(of, name);
        if (member != null) {
          member.setAccessible(true);
          return member;
        }
      } catch (RuntimeException e) {
        // A class that cannot be reached; perhaps its superclass can.
      }
    }
    return NONE;
  }

  private static AccessibleObject memberOf(Class<?> of, String name) {
    for (Method method : of.getDeclaredMethods()) {
      if (method.getName().equals(name) && method.getParameterCount() == 0) {
        return method;
      }
    }
    for (Field field : of.getDeclaredFields()) {
      if (field.getName().equals(name)) {
        return field;
      }
    }
    return null;
  }
}
