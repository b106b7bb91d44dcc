package org.yunti.messages.trial.derived;

import com.esotericsoftware.kryo.kryo5.objenesis.ObjenesisStd;
import com.esotericsoftware.kryo.kryo5.objenesis.instantiator.ObjectInstantiator;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Fields of a class, read and written by method handles, which is near to generated code. */
final class Access {
  private final Class<?> type;
  private final List<Field> fields = new ArrayList<>();
  private final Class<?>[] types;
  private final MethodHandle[] getters;
  /** Setters of the fields; null for a record, which has a constructor. */
  private final MethodHandle[] setters;
  private final MethodHandle constructor;
  private final ObjectInstantiator<?> instantiator;

  Access(Class<?> type) {
    this.type = type;
    for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
      for (Field field : each.getDeclaredFields()) {
        if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0 && !field.isSynthetic()) {
          field.setAccessible(true);
          fields.add(field);
        }
      }
    }
    types = fields.stream().map(Field::getType).toArray(Class<?>[]::new);
    getters = new MethodHandle[types.length];
    setters = type.isRecord() ? null : new MethodHandle[types.length];
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      for (int i = 0; i < types.length; i++) {
        getters[i] = lookup.unreflectGetter(fields.get(i)).asType(MethodType.methodType(Object.class, Object.class));
        if (setters != null) {
          setters[i] = lookup.unreflectSetter(fields.get(i))
              .asType(MethodType.methodType(void.class, Object.class, Object.class));
        }
      }
      constructor = setters != null ? null
          : lookup.unreflectConstructor(type.getDeclaredConstructor(types)).asSpreader(Object[].class, types.length)
              .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    instantiator = constructor == null ? new ObjenesisStd(true).getInstantiatorOf(type) : null;
  }

  int count() {
    return types.length;
  }

  Class<?> type(int index) {
    return types[index];
  }

  String name(int index) {
    return type.getName() + "." + fields.get(index).getName();
  }

  Object get(Object it, int index) {
    try {
      return getters[index].invokeExact(it);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  void set(Object it, int index, Object value) {
    try {
      setters[index].invokeExact(it, value);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  boolean isByConstructor() {
    return constructor != null;
  }

  /** Returns 0, false or null for each field. */
  Object[] zeros() {
    return Arrays.stream(types).map(of -> of.isPrimitive() ? Array.get(Array.newInstance(of, 1), 0) : null).toArray();
  }

  Object construct(Object[] values) {
    try {
      return constructor.invokeExact(values);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  Object allocate() {
    return instantiator.newInstance();
  }
}
