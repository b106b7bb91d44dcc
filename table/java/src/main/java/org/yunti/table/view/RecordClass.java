package org.yunti.table.view;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;

/** A record class of Java 16, by reflection: Java 8 compiles this. */
public final class RecordClass<T> {
  private final Object[] components;
  private final Class<?>[] types;
  private final Constructor<T> constructor;

  public RecordClass(Class<T> type) {
    if (!isRecord(type)) {
      throw new IllegalArgumentException(type.getName() + " is no record class");
    }
    components = (Object[]) call(type, "getRecordComponents");
    types = new Class<?>[components.length];
    for (int i = 0; i < types.length; i++) {
      types[i] = (Class<?>) call(components[i], "getType");
    }
    try {
      constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IllegalArgumentException("the constructor of " + type.getName() + " is not accessible: open its "
          + "package to org.yunti.table", e);
    }
  }

  public static boolean isRecord(Class<?> type) {
    return type.getSuperclass() != null && type.getSuperclass().getName().equals("java.lang.Record");
  }

  private static Object call(Object of, String name) {
    try {
      Method method = of.getClass().getMethod(name);
      return method.invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(name, e);
    }
  }

  public int size() {
    return types.length;
  }

  public String name(int component) {
    return (String) call(components[component], "getName");
  }

  public Class<?> type(int component) {
    return types[component];
  }

  public Type genericType(int component) {
    return (Type) call(components[component], "getGenericType");
  }

  /** Returns the value of a component. */
  public Object value(Object record, int component) {
    Method accessor = (Method) call(components[component], "getAccessor");
    try {
      accessor.setAccessible(true);
      return accessor.invoke(record);
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IllegalArgumentException(accessor + " gives no value", e);
    }
  }

  public T create(Object[] values) throws InvocationTargetException {
    try {
      return constructor.newInstance(values);
    } catch (InstantiationException | IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
