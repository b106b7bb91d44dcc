package org.yunti.messages.trial;

import com.esotericsoftware.kryo.kryo5.objenesis.Objenesis;
import com.esotericsoftware.kryo.kryo5.objenesis.ObjenesisStd;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes objects again from trees of the agent's walker. Constructors of the service do not run, except those of
 * records: fields are set as they were.
 */
final class Maker {
  private static final Objenesis OBJECTS = new ObjenesisStd(true);
  private static final Map<String, Class<?>> PRIMITIVES = Map.of("int", int.class, "long", long.class, "short",
      short.class, "byte", byte.class, "char", char.class, "double", double.class, "float", float.class, "boolean",
      boolean.class);

  private final Map<Integer, Object> numbered = new HashMap<>();
  private final Set<String> notes = new LinkedHashSet<>();

  /** Returns what is unlike the service, a sentence each. */
  Set<String> notes() {
    return notes;
  }

  /** Returns the object of a tree. */
  Object make(Object tree) throws ReflectiveOperationException {
    if (!(tree instanceof Map<?, ?> parts)) {
      return tree;
    }
    Map.Entry<?, ?> first = parts.entrySet().iterator().next();
    Object value = first.getValue();
    return switch ((String) first.getKey()) {
      case "i" -> ((Number) value).intValue();
      case "l" -> ((Number) value).longValue();
      case "h" -> ((Number) value).shortValue();
      case "b" -> ((Number) value).byteValue();
      case "d" -> Double.parseDouble((String) value);
      case "f" -> Float.parseFloat((String) value);
      case "x" -> ((String) value).charAt(0);
      case "r" -> numbered.get(((Number) value).intValue());
      case "gap" -> null;
      case "e" -> constant(type((String) value), (String) parts.get("v"));
      case "t" -> JdkValues.of((String) value, make(parts.get("v")), this::type);
      case "n" -> numbered(((Number) value).intValue(), parts);
      default -> throw new IllegalArgumentException("unknown part " + first.getKey());
    };
  }

  private Class<?> type(String name) throws ClassNotFoundException {
    Class<?> primitive = PRIMITIVES.get(name);
    return primitive != null ? primitive : Class.forName(name, false, Maker.class.getClassLoader());
  }

  private static Object constant(Class<?> type, String name) throws ReflectiveOperationException {
    for (Object each : type.getEnumConstants()) {
      if (((Enum<?>) each).name().equals(name)) {
        return each;
      }
    }
    throw new NoSuchFieldException(type.getName() + "." + name);
  }

  private Object numbered(int number, Map<?, ?> parts) throws ReflectiveOperationException {
    if (parts.get("c") instanceof String name) {
      return object(number, type(name), (Map<?, ?>) parts.get("f"));
    }
    if (parts.get("a") instanceof String name) {
      return array(number, type(name), parts.get("v"));
    }
    boolean isMap = parts.containsKey("m");
    String name = (String) parts.get(isMap ? "m" : "k");
    List<?> trees = (List<?>) parts.get("v");
    Collections of = Collections.of(name, isMap);
    if (of.note() != null) {
      notes.add(of.note());
    }
    // A collection that may be changed is there before its parts, which may refer to it.
    Object changeable = of.start();
    if (of.isSame()) {
      numbered.put(number, changeable);
    }
    List<Object> values = new ArrayList<>(trees.size());
    for (Object tree : trees) {
      values.add(make(tree));
    }
    Object made = of.end(changeable, values);
    numbered.put(number, made);
    return made;
  }

  private Object array(int number, Class<?> type, Object values) throws ReflectiveOperationException {
    if (type == byte.class) {
      byte[] bytes = Base64.getDecoder().decode((String) values);
      numbered.put(number, bytes);
      return bytes;
    }
    List<?> trees = (List<?>) values;
    Object array = Array.newInstance(type, trees.size());
    numbered.put(number, array);
    for (int i = 0; i < trees.size(); i++) {
      Array.set(array, i, make(trees.get(i)));
    }
    return array;
  }

  private Object object(int number, Class<?> type, Map<?, ?> fields) throws ReflectiveOperationException {
    if (type.isRecord()) {
      RecordComponent[] components = type.getRecordComponents();
      Class<?>[] types = new Class<?>[components.length];
      Object[] values = new Object[components.length];
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        values[i] = make(fields.get(components[i].getName()));
      }
      Constructor<?> constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      Object made = constructor.newInstance(values);
      numbered.put(number, made);
      return made;
    }
    Object made = OBJECTS.newInstance(type);
    numbered.put(number, made);
    boolean isProtobuf = isBelow(type, "com.google.protobuf.AbstractMessageLite");
    for (Map.Entry<?, ?> entry : fields.entrySet()) {
      String name = (String) entry.getKey();
      int mark = name.indexOf('#');
      Class<?> declaring = mark < 0 ? type : type(name.substring(0, mark));
      Field field = declaring.getDeclaredField(name.substring(mark + 1));
      Object value = make(entry.getValue());
      if (isProtobuf && field.getName().startsWith("memoized")) {
        // What protobuf remembers of the message in the service: its size and whether it is whole.
        value = field.getType() == byte.class ? (Object) (byte) -1 : field.getType() == int.class
            ? (Object) (field.getName().contains("Size") ? -1 : 0) : value;
      }
      set(made, field, value);
    }
    return made;
  }

  private static boolean isBelow(Class<?> type, String name) {
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      if (each.getName().equals(name)) {
        return true;
      }
    }
    return false;
  }

  private static void set(Object object, Field field, Object value) throws IllegalAccessException {
    Class<?> type = field.getType();
    if (value != null && !type.isPrimitive() && !type.isInstance(value)) {
      throw new IllegalArgumentException(field.getDeclaringClass().getName() + "." + field.getName() + " is a "
          + type.getName() + ", and its " + value.getClass().getName() + " cannot be made again");
    }
    // Final fields too, because none of these classes is a record or hidden.
    field.setAccessible(true);
    field.set(object, value);
  }
}
