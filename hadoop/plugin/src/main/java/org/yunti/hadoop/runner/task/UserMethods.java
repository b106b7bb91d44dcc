package org.yunti.hadoop.runner.task;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;

/** Calls of the protected methods of mappers and reducers. */
final class UserMethods {
  private UserMethods() {}

  /** Returns the method of a class; a call runs the method of the object's own class. */
  static MethodHandle of(Class<?> owner, String name, Class<?>... parameters) {
    try {
      Method method = owner.getDeclaredMethod(name, parameters);
      method.setAccessible(true);
      return MethodHandles.lookup().unreflect(method);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Returns true if an object has the {@code run} of Hadoop's class, and none of its own. */
  static boolean hasRunOf(Class<?> owner, Object object, Class<?> context) {
    try {
      return object.getClass().getMethod("run", context).getDeclaringClass() == owner;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }

  /** Throws what user code threw. */
  static RuntimeException rethrown(Throwable failure) throws IOException, InterruptedException {
    if (failure instanceof IOException) {
      throw (IOException) failure;
    } else if (failure instanceof InterruptedException) {
      throw (InterruptedException) failure;
    } else if (failure instanceof Error) {
      throw (Error) failure;
    }
    return failure instanceof RuntimeException ? (RuntimeException) failure : new UndeclaredThrowableException(failure);
  }
}
