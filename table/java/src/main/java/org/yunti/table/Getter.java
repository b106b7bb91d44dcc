package org.yunti.table;

import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.yunti.table.format.Source;
import org.yunti.table.schema.Column;

/** Reads the bytes of a value as an object of a class of the caller. */
interface Getter {
  Object read(Source source, long begin, long end);

  /**
   * Returns the getter of values of a column as a type.
   *
   * @param isCopy true: lists are copied, for objects that outlive the table
   * @throws IllegalArgumentException if the type does not hold all values of the column
   */
  static Getter of(Column column, Type type, boolean isCopy) {
    Class<?> raw = raw(type);
    if (raw == Object.class) {
      return (source, begin, end) -> Values.object(source, column, begin, end);
    }
    Getter getter = null;
    switch (column.type()) {
      case BOOL:
        getter = raw == boolean.class || raw == Boolean.class
            ? (source, begin, end) -> source.memory.getByte(begin) != 0 : null;
        break;
      case F32:
      case F64:
        getter = real(column, raw);
        break;
      case UTF8:
      case DICT:
        getter = text(column, raw);
        break;
      case BYTES:
        getter = raw == byte[].class ? (source, begin, end) -> Values.bytes(source, column, begin, end) : null;
        break;
      case RECORD:
        getter = record(column, raw);
        break;
      case LIST:
        getter = list(column, type, raw, isCopy);
        break;
      default:
        getter = integer(column, raw);
    }
    if (getter == null) {
      throw new IllegalArgumentException(column + " has values that " + type.getTypeName() + " does not hold");
    }
    return getter;
  }

  /** Returns what a getter gives for a missing value. */
  static Object missing(Class<?> type) {
    return type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0) : null;
  }

  /** Returns the bits that an integer type of Java needs for a column, as if it were signed. */
  static int bits(Column column) {
    int bits = 8 * column.type().width();
    return column.type().isUnsigned() && bits < 64 ? bits + 1 : bits;
  }

  static Getter integer(Column column, Class<?> raw) {
    org.yunti.table.schema.Type of = column.type();
    int bits = bits(column);
    if (raw == long.class || raw == Long.class) {
      return (source, begin, end) -> Values.integer(source.memory, of, begin);
    }
    if ((raw == int.class || raw == Integer.class) && bits <= 32) {
      return (source, begin, end) -> (int) Values.integer(source.memory, of, begin);
    }
    if ((raw == short.class || raw == Short.class) && bits <= 16) {
      return (source, begin, end) -> (short) Values.integer(source.memory, of, begin);
    }
    if ((raw == byte.class || raw == Byte.class) && bits <= 8) {
      return (source, begin, end) -> (byte) Values.integer(source.memory, of, begin);
    }
    return null;
  }

  static Getter real(Column column, Class<?> raw) {
    org.yunti.table.schema.Type of = column.type();
    if (raw == double.class || raw == Double.class) {
      return (source, begin, end) -> Values.real(source.memory, of, begin);
    }
    boolean isFloat = (raw == float.class || raw == Float.class) && of == org.yunti.table.schema.Type.F32;
    return isFloat ? (source, begin, end) -> (float) Values.real(source.memory, of, begin) : null;
  }

  static Getter text(Column column, Class<?> raw) {
    if (raw == String.class || raw == CharSequence.class) {
      return (source, begin, end) -> Values.text(source, column, begin, end);
    }
    if (raw == byte[].class) {
      return (source, begin, end) -> Values.bytes(source, column, begin, end);
    }
    return raw.isEnum() ? (source, begin, end) -> constant(raw, Values.text(source, column, begin, end)) : null;
  }

  static Object constant(Class<?> type, String name) {
    for (Object constant : type.getEnumConstants()) {
      if (((Enum<?>) constant).name().equals(name)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(type.getName() + " has no constant " + name + ": it has "
        + Arrays.toString(type.getEnumConstants()));
  }

  static Getter record(Column column, Class<?> raw) {
    Shape<?> shape = Shape.of(column.fields(), raw);
    return (source, begin, end) -> {
      Cells cells = shape.cells(source);
      cells.move(begin, end);
      cells.readStarts();
      return shape.value(cells);
    };
  }

  static Getter list(Column column, Type type, Class<?> raw, boolean isCopy) {
    if (raw == Elements.class) {
      return (source, begin, end) -> Values.list(source, column, begin, end);
    }
    if (raw.isArray()) {
      Class<?> component = raw.getComponentType();
      Getter element = of(column.element(), component, isCopy);
      Object missing = missing(component);
      return (source, begin, end) -> array(Values.list(source, column, begin, end), element, component, missing);
    }
    if (!raw.isAssignableFrom(List.class)) {
      return null;
    }
    Type argument = type instanceof ParameterizedType ? ((ParameterizedType) type).getActualTypeArguments()[0]
        : Object.class;
    Getter element = of(column.element(), argument, isCopy);
    return (source, begin, end) -> {
      List<Object> list = new Mapped(Values.list(source, column, begin, end), element);
      return isCopy ? Collections.unmodifiableList(new ArrayList<>(list)) : list;
    };
  }

  static Object array(Elements list, Getter element, Class<?> component, Object missing) {
    Object array = Array.newInstance(component, list.size());
    if (component == long.class) {
      long[] numbers = (long[]) array;
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = list.getLong(i);
      }
      return array;
    }
    List<Object> objects = new Mapped(list, element);
    for (int i = 0; i < list.size(); i++) {
      Object value = objects.get(i);
      Array.set(array, i, value == null ? missing : value);
    }
    return array;
  }

  /** Returns the class of a type. */
  static Class<?> raw(Type type) {
    if (type instanceof Class) {
      return (Class<?>) type;
    }
    if (type instanceof ParameterizedType) {
      return raw(((ParameterizedType) type).getRawType());
    }
    if (type instanceof WildcardType) {
      return raw(((WildcardType) type).getUpperBounds()[0]);
    }
    throw new IllegalArgumentException("the type " + type.getTypeName() + " of a getter is no class");
  }

  /** Elements as objects of a class of the caller. */
  final class Mapped extends AbstractList<Object> {
    private final Elements elements;
    private final Getter element;

    Mapped(Elements elements, Getter element) {
      this.elements = elements;
      this.element = element;
    }

    @Override
    public int size() {
      return elements.size();
    }

    @Override
    public Object get(int i) {
      return elements.isNull(i) ? null
          : element.read(elements.source(), elements.valueBegin(i), elements.valueEnd(i));
    }
  }
}
