package org.yunti.web.velocity.link;

import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Method handles for calls that Velocity makes by reflection. */
final class Handles {
  private Handles() {}

  /** Returns an object of a generated class's data. */
  static Object site(MethodHandles.Lookup caller, int index) throws IllegalAccessException {
    return MethodHandles.classData(caller, ConstantDescs.DEFAULT_NAME, Object[].class)[index];
  }

  /** Returns a static method of the class of a lookup. */
  static MethodHandle own(MethodHandles.Lookup lookup, String name, Class<?> result, Class<?>... parameters) {
    try {
      return lookup.findStatic(lookup.lookupClass(), name, MethodType.methodType(result, parameters));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Returns the handle of a public method, with its receiver as first parameter, also for a static method; null if the
   * method is not accessible.
   */
  static MethodHandle of(Method method) {
    try {
      MethodHandle handle = MethodHandles.publicLookup().unreflect(method).asFixedArity();
      return Modifier.isStatic(method.getModifiers()) ? MethodHandles.dropArguments(handle, 0, Object.class) : handle;
    } catch (IllegalAccessException e) {
      return null;
    }
  }

  /** Returns the same handle with Object parameters and result, as reflection passes and boxes them. */
  static MethodHandle erased(MethodHandle handle) {
    return handle.asType(handle.type().generic());
  }
}
