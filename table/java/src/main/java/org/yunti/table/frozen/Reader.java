package org.yunti.table.frozen;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import org.yunti.table.ByteRange;
import org.yunti.table.TableException;
import org.yunti.table.view.RecordClass;

/** Reads objects by their places, as the types that the caller declares. */
final class Reader {
  private static final Type[] NO_TYPES = {};

  final ByteRange bytes;
  private final String path;
  private final FrozenClass[] classes;
  /** Classes that untyped objects may be read as. The file's names load no class. */
  private final Map<String, Class<?>> given = new HashMap<>();
  private final Map<Class<?>, RecordClass<?>> records = new HashMap<>();

  Reader(String path, byte[] classes, ByteRange bytes, Class<?> root, Class<?>... others) {
    this.path = path;
    this.classes = FrozenClass.read(classes, path);
    this.bytes = bytes;
    given.put(root.getName(), root);
    for (Class<?> other : others) {
      given.put(other.getName(), other);
    }
  }

  int root() {
    return bytes.getInt(4);
  }

  TableException damaged(int place) {
    return new TableException(path + ": the object at " + place + " is damaged; write it again");
  }

  /**
   * Reads an object.
   *
   * @param copies objects that were copied, by place; null: read in place what is not a record class
   */
  Object read(int place, Type type, Map<Integer, Object> copies) {
    if (place == 0) {
      return null;
    }
    try {
      return read(place, bytes.getByte(place), type, copies);
    } catch (IndexOutOfBoundsException e) {
      throw damaged(place);
    }
  }

  private Object read(int place, int tag, Type type, Map<Integer, Object> copies) {
    int at = place + 1;
    if (Tag.BOOLEAN <= tag && tag <= Tag.DOUBLE) {
      return primitive(at, tag);
    }
    switch (tag) {
      case Tag.TEXT:
        return text(at);
      case Tag.ENUM:
        return constant(at, type);
      case Tag.RECORD:
        return record(place, type, copies);
      case Tag.LIST:
      case Tag.SET:
      case Tag.MAP:
        return FrozenCollections.of(this, place, tag, arguments(type), copies);
      case Tag.OPTIONAL:
        return Optional.ofNullable(read(reference(at, place), argument(arguments(type), 0), copies));
      case Tag.ARRAY:
        return array(at);
      case Tag.INSTANT:
        return Instant.ofEpochSecond(bytes.getLong(at), bytes.getLong(at + 8));
      case Tag.DURATION:
        return Duration.ofSeconds(bytes.getLong(at), bytes.getLong(at + 8));
      case Tag.DATE:
        return LocalDate.ofEpochDay(bytes.getLong(at));
      case Tag.TIME:
        return LocalTime.ofNanoOfDay(bytes.getLong(at + 8));
      case Tag.DATE_TIME:
        return LocalDateTime.of(LocalDate.ofEpochDay(bytes.getLong(at)), LocalTime.ofNanoOfDay(bytes.getLong(at + 8)));
      default:
        throw damaged(place);
    }
  }

  /** Reads a reference. An object lies behind all that it refers to, so that a damaged file has no cycles either. */
  int reference(long at, int before) {
    int place = bytes.getInt(at);
    if (place < 0 || place >= before) {
      throw damaged(before);
    }
    return place;
  }

  Object primitive(int at, int tag) {
    switch (tag) {
      case Tag.BOOLEAN:
        return bytes.getByte(at) != 0;
      case Tag.BYTE:
        return bytes.getByte(at);
      case Tag.SHORT:
        return bytes.getShort(at);
      case Tag.CHAR:
        return (char) bytes.getShort(at);
      case Tag.INT:
        return bytes.getInt(at);
      case Tag.LONG:
        return bytes.getLong(at);
      case Tag.FLOAT:
        return Float.intBitsToFloat(bytes.getInt(at));
      default:
        return Double.longBitsToDouble(bytes.getLong(at));
    }
  }

  private int leb(int at) {
    int number = 0;
    for (int i = 0; i < 5; i++) {
      int part = bytes.getByte(at + i);
      number |= (part & 0x7f) << 7 * i;
      if (part >= 0) {
        return number;
      }
    }
    throw damaged(at);
  }

  private int behindLeb(int at) {
    int end = at;
    while (bytes.getByte(end) < 0) {
      end++;
    }
    return end + 1;
  }

  private String text(int at) {
    int length = leb(at);
    if (length < 0 || length > bytes.size()) {
      throw damaged(at);
    }
    byte[] utf8 = new byte[length];
    bytes.copy(behindLeb(at), utf8, 0, length);
    return new String(utf8, StandardCharsets.UTF_8);
  }

  private FrozenClass classAt(int at, boolean isRecord) {
    int number = leb(at);
    if (number < 0 || number >= classes.length || classes[number].isRecord != isRecord) {
      throw damaged(at);
    }
    return classes[number];
  }

  /** Returns the number of a class of enums, or -1. */
  int enumNumber(Class<?> type) {
    for (int i = 0; i < classes.length; i++) {
      if (!classes[i].isRecord && classes[i].name.equals(type.getName())) {
        return i;
      }
    }
    return -1;
  }

  private Object constant(int at, Type type) {
    FrozenClass of = classAt(at, false);
    Class<?> wanted = raw(type);
    Class<?> found = wanted.getName().equals(of.name) ? wanted : given.get(of.name);
    if (found == null || !found.isEnum()) {
      throw new IllegalArgumentException(path + ": constants of " + of.name + " are read as " + wanted.getName()
          + "; give the class to Frozen.open");
    }
    String name = text(behindLeb(at));
    for (Object constant : found.getEnumConstants()) {
      if (((Enum<?>) constant).name().equals(name)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(path + ": " + of.name + " has no constant " + name + " any more");
  }

  private Object array(int at) {
    int tag = bytes.getByte(at);
    int length = bytes.getInt(at + 1);
    if (tag < Tag.BOOLEAN || tag > Tag.DOUBLE || length < 0 || (long) length * Tag.width(tag) > bytes.size()) {
      throw damaged(at);
    }
    Object array = java.lang.reflect.Array.newInstance(Tag.primitive(tag), length);
    for (int i = 0; i < length; i++) {
      java.lang.reflect.Array.set(array, i, primitive(at + 5 + i * Tag.width(tag), tag));
    }
    return array;
  }

  private Object record(int place, Type type, Map<Integer, Object> copies) {
    FrozenClass of = classAt(place + 1, true);
    Class<?> wanted = raw(type);
    Class<?> as = wanted.getName().equals(of.name) || of.interfaces.contains(wanted.getName()) ? wanted
        : given.get(of.name);
    for (String name : of.interfaces) {
      as = as == null ? given.get(name) : as;
    }
    if (as == null) {
      throw new IllegalArgumentException(path + ": objects of " + of.name + " are read as " + wanted.getName()
          + "; give Frozen.open the class, or an interface that it implements");
    }
    int fields = behindLeb(place + 1);
    return as.isInterface() ? FrozenView.of(this, of, fields, as)
        : copy(place, of, fields, as, copies == null ? new HashMap<>() : copies);
  }

  private Object copy(int place, FrozenClass of, int fields, Class<?> type, Map<Integer, Object> copies) {
    Object known = copies.get(place);
    if (known != null) {
      return known;
    }
    RecordClass<?> record;
    synchronized (records) {
      record = records.computeIfAbsent(type, RecordClass::new);
    }
    Object[] values = new Object[record.size()];
    for (int i = 0; i < values.length; i++) {
      int component = of.component(record.name(i));
      if (component < 0 || of.kinds[component] != Tag.of(record.type(i))) {
        throw new IllegalArgumentException(path + ": " + of.name + " has changed since it was frozen: component "
            + record.name(i) + "; write it again");
      }
      values[i] = component(of, fields, component, record.genericType(i), copies);
    }
    try {
      known = record.create(values);
    } catch (InvocationTargetException | IllegalArgumentException e) {
      throw new IllegalArgumentException(path + ": no copy of " + of.name, e);
    }
    copies.put(place, known);
    return known;
  }

  Object component(FrozenClass of, int fields, int component, Type type, Map<Integer, Object> copies) {
    int at = fields + of.offsets[component];
    int kind = of.kinds[component];
    return kind == Tag.REFERENCE ? read(reference(at, fields), type, copies) : primitive(at, kind);
  }

  static Type[] arguments(Type type) {
    return type instanceof ParameterizedType ? ((ParameterizedType) type).getActualTypeArguments() : NO_TYPES;
  }

  static Type argument(Type[] arguments, int i) {
    return i < arguments.length ? arguments[i] : Object.class;
  }

  static Class<?> raw(Type type) {
    if (type instanceof Class) {
      return (Class<?>) type;
    }
    if (type instanceof ParameterizedType) {
      return raw(((ParameterizedType) type).getRawType());
    }
    return type instanceof WildcardType ? raw(((WildcardType) type).getUpperBounds()[0]) : Object.class;
  }
}
