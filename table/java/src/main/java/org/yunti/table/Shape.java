package org.yunti.table;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.yunti.table.format.Source;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Layout;
import org.yunti.table.view.ColumnNames;
import org.yunti.table.view.RecordClass;
import org.yunti.table.view.ViewClass;

/** A class of the caller for rows: an interface that reads them, a record that copies them, or Row. */
abstract class Shape<T> {
  /** A system property for tests: {@code proxy} makes no classes, {@code loader} makes them as before Java 15. */
  private static final String VIEWS = "yunti.table.views";

  /** Returns cells at no row yet of a source, for {@link #value}. */
  abstract Cells cells(Source source);

  /** Returns the object for the row that cells of this shape are at. The cells belong to it from now on. */
  abstract T value(Cells cells);

  /** Returns the cells of a view, or null for copies. */
  abstract Cells cellsOf(T view);

  static <T> Shape<T> of(Layout layout, Class<T> type) {
    return RecordClass.isRecord(type) ? copy(layout, type) : view(layout, type);
  }

  /** Returns the shape of an interface. */
  static <T> Shape<T> view(Layout layout, Class<T> type) {
    if (type == Row.class) {
      return new Plain<>(layout, type);
    }
    if (!type.isInterface()) {
      throw new IllegalArgumentException(type.getName() + " is neither an interface nor a record");
    }
    List<Method> methods = new ArrayList<>();
    List<View.ColumnGetter> getters = new ArrayList<>();
    for (Method method : type.getMethods()) {
      if (Modifier.isAbstract(method.getModifiers()) && !isOfObject(method)) {
        methods.add(method);
        getters.add(getter(layout, method));
      }
    }
    String way = System.getProperty(VIEWS, "");
    Column[] columns = getters.stream().map(getter -> getter.column).toArray(Column[]::new);
    Class<? extends View> generated = way.equals("proxy") ? null
        : ViewClass.define(type, View.class, methods.toArray(new Method[0]), columns, way.equals("loader"));
    View.ColumnGetter[] all = getters.toArray(new View.ColumnGetter[0]);
    return generated == null ? new Proxies<>(layout, type, methods, all)
        : new Generated<>(generated, type, new View.Context(layout, all));
  }

  private static boolean isOfObject(Method method) {
    try {
      Object.class.getMethod(method.getName(), method.getParameterTypes());
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  private static View.ColumnGetter getter(Layout layout, Method method) {
    if (method.getParameterCount() > 0) {
      throw new IllegalArgumentException(method + " has parameters; a getter of a column has none");
    }
    Column column = ColumnNames.find(layout, method.getName(), method.toString());
    Getter getter = Getter.of(column, method.getGenericReturnType(), false);
    return new View.ColumnGetter(column, getter, Getter.missing(method.getReturnType()));
  }

  /** Returns the shape of a record class. */
  static <T> Shape<T> copy(Layout layout, Class<T> type) {
    RecordClass<T> of = new RecordClass<>(type);
    View.ColumnGetter[] getters = new View.ColumnGetter[of.size()];
    for (int i = 0; i < getters.length; i++) {
      String where = "component " + of.name(i) + " of " + type.getName();
      Column column = ColumnNames.find(layout, of.name(i), where);
      getters[i] = new View.ColumnGetter(column, Getter.of(column, of.genericType(i), true),
          Getter.missing(of.type(i)));
    }
    return new Copies<>(layout, of, getters);
  }

  private static final class Plain<T> extends Shape<T> {
    private final Layout layout;
    private final Class<T> type;

    Plain(Layout layout, Class<T> type) {
      this.layout = layout;
      this.type = type;
    }

    @Override
    Cells cells(Source source) {
      return new Row(source, layout);
    }

    @Override
    T value(Cells cells) {
      return type.cast(cells);
    }

    @Override
    Cells cellsOf(T view) {
      return (Cells) view;
    }
  }

  private static final class Generated<T> extends Shape<T> {
    private final View first;

    Generated(Class<? extends View> generated, Class<T> type, View.Context context) {
      try {
        Constructor<? extends View> constructor = generated.getConstructor(Object.class);
        first = constructor.newInstance(context);
      } catch (ReflectiveOperationException e) {
        throw new IllegalArgumentException("no view of " + type.getName(), e);
      }
    }

    @Override
    Cells cells(Source source) {
      Cells cells = first.create(source);
      cells.belongTo(source);
      return cells;
    }

    /** Cells of this shape are of the generated class, which implements the interface. */
    @SuppressWarnings("unchecked")
    @Override
    T value(Cells cells) {
      return (T) cells;
    }

    @Override
    Cells cellsOf(T view) {
      return (Cells) view;
    }
  }

  /** Views where no class can be made: before Java 15 for an interface that is not public. Slower, and equal else. */
  private static final class Proxies<T> extends Shape<T> {
    private final Layout layout;
    private final Class<T> type;
    private final Map<String, View.ColumnGetter> getters = new HashMap<>();

    Proxies(Layout layout, Class<T> type, List<Method> methods, View.ColumnGetter[] all) {
      this.layout = layout;
      this.type = type;
      for (int i = 0; i < all.length; i++) {
        getters.put(methods.get(i).getName(), all[i]);
      }
    }

    @Override
    Cells cells(Source source) {
      return new Row(source, layout);
    }

    @Override
    T value(Cells cells) {
      Class<?>[] types = {type};
      return type.cast(Proxy.newProxyInstance(type.getClassLoader(), types, new Handler(cells, getters)));
    }

    @Override
    Cells cellsOf(T view) {
      return ((Handler) Proxy.getInvocationHandler(view)).cells;
    }
  }

  private static final class Handler implements InvocationHandler {
    final Cells cells;
    private final Map<String, View.ColumnGetter> getters;

    Handler(Cells cells, Map<String, View.ColumnGetter> getters) {
      this.cells = cells;
      this.getters = getters;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      if (method.isDefault()) {
        return ViewClass.callDefault(proxy, method, arguments);
      }
      View.ColumnGetter getter = getters.get(method.getName());
      if (getter != null && method.getParameterCount() == 0) {
        return getter.of(cells);
      }
      switch (method.getName()) {
        case "equals":
          return arguments[0] != null && Proxy.isProxyClass(arguments[0].getClass())
              && Proxy.getInvocationHandler(arguments[0]) instanceof Handler
              && cells.equals(((Handler) Proxy.getInvocationHandler(arguments[0])).cells);
        case "hashCode":
          return cells.hashCode();
        default:
          return cells.toString();
      }
    }
  }

  private static final class Copies<T> extends Shape<T> {
    private final Layout layout;
    private final RecordClass<T> type;
    private final View.ColumnGetter[] getters;

    Copies(Layout layout, RecordClass<T> type, View.ColumnGetter[] getters) {
      this.layout = layout;
      this.type = type;
      this.getters = getters;
    }

    @Override
    Cells cells(Source source) {
      return new Row(source, layout);
    }

    @Override
    T value(Cells cells) {
      Object[] values = new Object[getters.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = getters[i].of(cells);
      }
      try {
        return type.create(values);
      } catch (InvocationTargetException e) {
        if (e.getCause() instanceof RuntimeException) {
          throw (RuntimeException) e.getCause();
        }
        throw new IllegalArgumentException(e.getCause());
      }
    }

    @Override
    Cells cellsOf(T view) {
      return null;
    }
  }
}
