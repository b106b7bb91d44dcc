package org.yunti.web.oracle.curated;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Iterator;
import java.util.List;
import org.apache.velocity.util.introspection.Converter;
import org.apache.velocity.util.introspection.Info;
import org.apache.velocity.util.introspection.TypeConversionHandler;
import org.apache.velocity.util.introspection.UberspectImpl;
import org.apache.velocity.util.introspection.VelMethod;
import org.apache.velocity.util.introspection.VelPropertyGet;
import org.apache.velocity.util.introspection.VelPropertySet;
import org.yunti.web.oracle.Journal;
import org.yunti.web.oracle.model.Person;

/** Custom introspection, which shows what a compiler's inline caches must look up and how long they may keep it. */
public final class Introspection {
  private Introspection() {}

  /**
   * Uberspector for names that begin with `my`. A result keeps the object and the place of its lookup, so a cache that
   * keeps it too long or too short is detected.
   */
  public static class Own extends UberspectImpl {
    @Override
    public VelPropertyGet getPropertyGet(Object o, String name, Info info) {
      return name.startsWith("my") ? new Getter(name, text(o) + " at " + info, !name.startsWith("mynot"))
          : super.getPropertyGet(o, name, info);
    }

    @Override
    public VelMethod getMethod(Object o, String name, Object[] arguments, Info info) {
      return name.startsWith("my")
          ? new Caller(name, text(o) + " for " + arguments.length + " at " + info, !name.startsWith("mynot"))
          : super.getMethod(o, name, arguments, info);
    }

    @Override
    public VelPropertySet getPropertySet(Object o, String name, Object value, Info info) {
      return name.startsWith("my") ? new Setter(name, text(o) + " at " + info)
          : super.getPropertySet(o, name, value, info);
    }

    @Override
    public Iterator<?> getIterator(Object o, Info info) {
      Journal.note("iterate " + text(o) + " at " + info);
      return o instanceof Person ? List.of("of", "a", "person").iterator() : super.getIterator(o, info);
    }
  }

  private static String text(Object o) {
    return o instanceof Person person ? person.state() : o.getClass().getSimpleName();
  }

  private record Getter(String name, String requested, boolean isCacheable) implements VelPropertyGet {
    @Override
    public Object invoke(Object o) {
      if (name.endsWith("Null")) {
        return null;
      }
      if (name.endsWith("Bad")) {
        throw new IllegalArgumentException("the getter refuses");
      }
      return name + " of " + text(o) + ", requested for " + requested;
    }

    @Override
    public String getMethodName() {
      return "get" + name;
    }
  }

  private record Setter(String name, String requested) implements VelPropertySet {
    @Override
    public Object invoke(Object o, Object value) {
      Journal.note("set " + name + " of " + text(o) + " to " + value + ", requested for " + requested);
      return null;
    }

    @Override
    public boolean isCacheable() {
      return true;
    }

    @Override
    public String getMethodName() {
      return "set" + name;
    }
  }

  private record Caller(String name, String requested, boolean isCacheable) implements VelMethod {
    @Override
    public Object invoke(Object o, Object[] arguments) {
      return name.endsWith("Null") ? null : name + " of " + text(o) + " with " + arguments.length + ", requested for "
          + requested;
    }

    @Override
    public String getMethodName() {
      return name;
    }

    @Override
    public Method getMethod() {
      return null;
    }

    @Override
    public Class<?> getReturnType() {
      return name.endsWith("VoidNull") ? void.class : Object.class;
    }
  }

  /** Conversion of every number to a text, and of the text "seven" to a number. */
  public static final class Conversion implements TypeConversionHandler {
    @Override
    public boolean isExplicitlyConvertible(Type formal, Class<?> actual, boolean possibleVarArg) {
      return getNeededConverter(formal, actual) != null;
    }

    @Override
    public Converter<?> getNeededConverter(Type formal, Class<?> actual) {
      if (formal == String.class && Number.class.isAssignableFrom(actual)) {
        return (Converter<String>) o -> "number " + o;
      }
      if (formal == int.class && actual == String.class) {
        return (Converter<Integer>) o -> "seven".equals(o) ? 7 : Integer.parseInt((String) o);
      }
      return null;
    }

    @Override
    public void addConverter(Type formal, Class<?> actual, Converter<?> converter) {
      throw new UnsupportedOperationException();
    }
  }
}
