package org.yunti.table.frozen;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.yunti.table.view.ViewClass;

/** A frozen record as an interface that its class implements. Two are equal if they are one object of one file. */
final class FrozenView implements InvocationHandler {
  private final Reader reader;
  private final FrozenClass of;
  private final int fields;
  private final Class<?> type;

  private FrozenView(Reader reader, FrozenClass of, int fields, Class<?> type) {
    this.reader = reader;
    this.of = of;
    this.fields = fields;
    this.type = type;
  }

  static Object of(Reader reader, FrozenClass of, int fields, Class<?> type) {
    return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
        new FrozenView(reader, of, fields, type));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    int component = method.getParameterCount() == 0 ? of.component(method.getName()) : -1;
    if (component >= 0) {
      return value(method, component);
    }
    if (method.isDefault()) {
      return ViewClass.callDefault(proxy, method, arguments);
    }
    switch (method.getName()) {
      case "equals":
        return isEqual(arguments[0]);
      case "hashCode":
        return fields;
      case "toString":
        return text();
      default:
        throw new UnsupportedOperationException(method + " is no component of " + of.name);
    }
  }

  private Object value(Method method, int component) {
    Object value = reader.component(of, fields, component, method.getGenericReturnType(), null);
    Class<?> wanted = method.getReturnType();
    boolean fits = wanted.isPrimitive() ? Tag.of(wanted) == of.kinds[component]
        : value == null || wanted.isInstance(value);
    if (!fits) {
      throw new IllegalArgumentException(method + " does not hold the component " + of.components[component] + " of "
          + of.name);
    }
    return value;
  }

  private boolean isEqual(Object other) {
    if (other == null || !Proxy.isProxyClass(other.getClass())
        || !(Proxy.getInvocationHandler(other) instanceof FrozenView)) {
      return false;
    }
    FrozenView view = (FrozenView) Proxy.getInvocationHandler(other);
    return view.reader == reader && view.fields == fields;
  }

  private String text() {
    StringBuilder out = new StringBuilder(type.getSimpleName()).append('[');
    for (Method method : type.getMethods()) {
      int component = method.getParameterCount() == 0 ? of.component(method.getName()) : -1;
      if (component >= 0) {
        out.append(out.charAt(out.length() - 1) == '[' ? "" : ", ").append(method.getName()).append('=')
            .append(value(method, component));
      }
    }
    return out.append(']').toString();
  }
}
