package org.yunti.table.view;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import org.yunti.table.schema.Column;

/**
 * Classes that implement an interface by a row's bytes. A getter of a number is one call with a constant offset, which
 * the JIT inlines to a load:
 *
 * <pre>
 *   public long userId() { return i64At(1); }
 *   public String name() { return utf8At(0); }
 *   public City city()   { return (City) objectAt(2); }     // the third getter
 * </pre>
 *
 * Since Java 15 they are hidden classes beside the interface. Before, a loader of their own has them, and the interface
 * must be public.
 */
public final class ViewClass {
  private static final String CELLS = "org/yunti/table/Cells";
  private static final String SOURCE = "org/yunti/table/format/Source";

  private ViewClass() {
  }

  /**
   * Makes the class of a view.
   *
   * @param columns the column of each method
   * @param isLoaded true: not as a hidden class
   * @return the class, or null if this JVM makes none for this interface
   */
  public static <B> Class<? extends B> define(Class<?> type, Class<B> base, Method[] methods, Column[] columns,
      boolean isLoaded) {
    String packageName = type.getName().substring(0, type.getName().lastIndexOf('.') + 1);
    String name = packageName + type.getSimpleName() + "$View";
    byte[] bytes = bytes(name.replace('.', '/'), type, base, methods, columns);
    try {
      Class<?> hidden = isLoaded ? null : hidden(type, bytes);
      return (hidden == null ? loaded(type, name, bytes) : hidden).asSubclass(base);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static Class<?> hidden(Class<?> type, byte[] bytes) throws ReflectiveOperationException {
    Method define;
    Class<?> option;
    try {
      option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
      define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class,
          Array.newInstance(option, 0).getClass());
    } catch (ReflectiveOperationException before15) {
      return null;
    }
    Object beside = MethodHandles.class.getMethod("privateLookupIn", Class.class, MethodHandles.Lookup.class)
        .invoke(null, type, MethodHandles.lookup());
    return ((MethodHandles.Lookup) define.invoke(beside, bytes, true, Array.newInstance(option, 0))).lookupClass();
  }

  private static Class<?> loaded(Class<?> type, String name, byte[] bytes) {
    if (!Modifier.isPublic(type.getModifiers())) {
      return null;
    }
    return new Loader(type.getClassLoader()).define(name, bytes);
  }

  private static final class Loader extends ClassLoader {
    Loader(ClassLoader parent) {
      super(parent);
    }

    Class<?> define(String name, byte[] bytes) {
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  private static byte[] bytes(String name, Class<?> type, Class<?> base, Method[] methods, Column[] columns) {
    String parent = base.getName().replace('.', '/');
    ClassBytes out = new ClassBytes();
    out.op(ClassBytes.ALOAD_0);
    out.op(ClassBytes.ALOAD_1);
    out.call(parent, "<init>", "(Ljava/lang/Object;)V");
    out.op(ClassBytes.RETURN);
    out.end(ClassBytes.PUBLIC, "<init>", "(Ljava/lang/Object;)V");

    out.create(name);
    out.op(ClassBytes.DUP);
    out.op(ClassBytes.ALOAD_0);
    out.op(ClassBytes.ALOAD_1);
    out.call(name, "context", "(L" + SOURCE + ";)Ljava/lang/Object;");
    out.call(name, "<init>", "(Ljava/lang/Object;)V");
    out.op(ClassBytes.ARETURN);
    out.end(ClassBytes.PUBLIC, "create", "(L" + SOURCE + ";)L" + CELLS + ";");

    for (int i = 0; i < methods.length; i++) {
      writeGetter(out, name, methods[i], columns[i], i);
      out.end(ClassBytes.PUBLIC, methods[i].getName(),
          MethodType.methodType(methods[i].getReturnType()).toMethodDescriptorString());
    }
    return out.toBytes(name, parent, type.getName().replace('.', '/'));
  }

  private static void writeGetter(ClassBytes out, String name, Method method, Column column, int number) {
    Class<?> result = method.getReturnType();
    out.op(ClassBytes.ALOAD_0);
    if (!result.isPrimitive() && (result != String.class || column.isNullable() || column.type().width() != 0)) {
      out.push(number);
      out.call(name, "objectAt", "(I)Ljava/lang/Object;");
      out.cast(result.getName().replace('.', '/'));
      out.op(ClassBytes.ARETURN);
      return;
    }
    out.push(column.at());
    out.call(name, column.type().isUnsigned() && column.type().width() == 8 ? "i64At" : column.type() + "At",
        "(I)" + descriptor(column));
    if (result == long.class && column.type().width() < 8 && !descriptor(column).equals("J")) {
      out.op(ClassBytes.I2L);
    } else if (result == double.class && column.type().width() == 4) {
      out.op(ClassBytes.F2D);
    }
    out.op(result == long.class ? ClassBytes.LRETURN : result == float.class ? ClassBytes.FRETURN
        : result == double.class ? ClassBytes.DRETURN : result == String.class ? ClassBytes.ARETURN
        : ClassBytes.IRETURN);
  }

  /** Returns the result of the method of Cells that reads a column. */
  private static String descriptor(Column column) {
    switch (column.type()) {
      case BOOL:
        return "Z";
      case I8:
        return "B";
      case I16:
        return "S";
      case U8:
      case U16:
      case I32:
        return "I";
      case F32:
        return "F";
      case F64:
        return "D";
      case UTF8:
        return "Ljava/lang/String;";
      default:
        return "J";
    }
  }

  /** Calls a method that an interface has itself, for a proxy. */
  public static Object callDefault(Object proxy, Method method, Object[] arguments) throws Throwable {
    try {
      return InvocationHandler.class.getMethod("invokeDefault", Object.class, Method.class, Object[].class)
          .invoke(null, proxy, method, arguments);
    } catch (NoSuchMethodException before16) {
      return specialLookup(method.getDeclaringClass()).unreflectSpecial(method, method.getDeclaringClass())
          .bindTo(proxy).invokeWithArguments(arguments == null ? new Object[0] : arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static MethodHandles.Lookup specialLookup(Class<?> type) throws ReflectiveOperationException {
    try {
      return (MethodHandles.Lookup) MethodHandles.class
          .getMethod("privateLookupIn", Class.class, MethodHandles.Lookup.class)
          .invoke(null, type, MethodHandles.lookup());
    } catch (NoSuchMethodException before9) {
      java.lang.reflect.Constructor<MethodHandles.Lookup> constructor =
          MethodHandles.Lookup.class.getDeclaredConstructor(Class.class);
      constructor.setAccessible(true);
      return constructor.newInstance(type);
    }
  }
}
