package org.yunti.messages.capture;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.yunti.messages.text.Json;

/**
 * Walks an object and all it refers to, and returns a tree that {@link Json} writes. It calls no code of the
 * application: it reads fields, and calls methods of the JDK's own values and collections only.
 *
 * <pre>
 *   null, "text", true                    null, a String, a Boolean
 *   {"i": 5}  {"l": 5}  {"d": "1.5"} ..   a number or a char, by its kind
 *   {"r": 3}                              the object number 3, again
 *   {"n": 3, "c": CLASS, "f": {..}}       an object: fields by name, or by DECLARING#name for those of a superclass
 *   {"n": 3, "a": CLASS, "v": [..]}       an array of this component type
 *   {"n": 3, "k": CLASS, "v": [..]}       a collection of the JDK
 *   {"n": 3, "m": CLASS, "v": [k, v, ..]} a map of the JDK
 *   {"t": CLASS, "v": ..}                 a value of the JDK: {@link Values}
 *   {"e": CLASS, "v": NAME}               a constant of an enum
 *   {"gap": 0}                            left out: its number in the list of gaps
 * </pre>
 */
final class Walker {
  private static final int OBJECTS_MAX = 20_000;
  private static final int DEPTH_MAX = 150;
  private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
  private static final Module OURS = Walker.class.getModule();

  private static final ClassValue<Field[]> FIELDS = new ClassValue<>() {
    @Override
    protected Field[] computeValue(Class<?> type) {
      List<Field> fields = new ArrayList<>();
      for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
        for (Field field : each.getDeclaredFields()) {
          if (!Modifier.isStatic(field.getModifiers())) {
            fields.add(field);
          }
        }
      }
      return fields.toArray(new Field[0]);
    }
  };

  private final Instrumentation instrumentation;
  private final Redactor redactor;
  private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
  private final Set<String> gaps = new LinkedHashSet<>();

  /** A message that cannot be captured. */
  static final class Refusal extends RuntimeException {
    Refusal(String message) {
      super(message, null, false, false);
    }
  }

  /** @param redactor replaces numbers; null leaves them */
  Walker(Instrumentation instrumentation, Redactor redactor) {
    this.instrumentation = instrumentation;
    this.redactor = redactor;
  }

  /** Returns the parts of the object that are left out, each with its reason. */
  Set<String> gaps() {
    return gaps;
  }

  /**
   * Returns the tree of an object.
   *
   * @throws Refusal if it is too large
   */
  Object walk(Object root) {
    return tree(root, "the message", 0, true);
  }

  private Object tree(Object it, String place, int depth, boolean mayRedact) {
    if (it == null || it instanceof Boolean) {
      return it;
    }
    if (it instanceof String text) {
      return new Json.Text(text);
    }
    Class<?> type = it.getClass();
    if (it instanceof Number || it instanceof Character) {
      Object number = Values.number(it, mayRedact ? redactor : null);
      if (number != null) {
        return number;
      }
    }
    if (it instanceof Enum<?> constant) {
      return map("e", constant.getDeclaringClass().getName(), "v", constant.name());
    }
    Integer known = numbers.get(it);
    if (known != null) {
      return map("r", known);
    }
    if (depth > DEPTH_MAX) {
      throw new Refusal("it is deeper than " + DEPTH_MAX + " objects, at " + place);
    }
    boolean isOfJdk = type.getClassLoader() == null || type.getClassLoader() == PLATFORM;
    if (type.isArray()) {
      return array(it, type, place, depth, mayRedact);
    }
    if (isOfJdk) {
      Object value = Values.value(it, redactor, inner -> tree(inner, place, depth + 1, mayRedact));
      if (value != null) {
        return value;
      }
      if (it instanceof Map<?, ?> map) {
        Map<String, Object> tree = numbered(it, "m", type.getName());
        List<Object> parts = new ArrayList<>();
        map.forEach((key, value2) -> {
          parts.add(tree(key, place, depth + 1, mayRedact));
          parts.add(tree(value2, place, depth + 1, mayRedact));
        });
        tree.put("v", parts);
        return tree;
      }
      if (it instanceof Collection<?> collection) {
        Map<String, Object> tree = numbered(it, "k", type.getName());
        List<Object> parts = new ArrayList<>();
        for (Object each : collection) {
          parts.add(tree(each, place, depth + 1, mayRedact));
        }
        tree.put("v", parts);
        return tree;
      }
    }
    String why = type.isHidden() || type.getName().contains("$$Lambda") ? "a lambda has no fields to copy"
        : type.isSynthetic() || Proxy.isProxyClass(type) ? "a proxy has no fields to copy"
        : isOfJdk ? "this class of the JDK is not a value" : null;
    if (why != null) {
      return gap(place + " is a " + plain(type) + ": " + why);
    }
    return object(it, type, depth, mayRedact);
  }

  private static String plain(Class<?> type) {
    String name = type.getName();
    int lambda = name.indexOf("$$Lambda");
    return lambda < 0 ? name : name.substring(0, lambda) + "$$Lambda";
  }

  private Object object(Object it, Class<?> type, int depth, boolean mayRedact) {
    Map<String, Object> tree = numbered(it, "c", type.getName());
    Map<String, Object> values = new LinkedHashMap<>();
    // Numbers in a collection of another library are its sizes and places.
    boolean redacts = mayRedact && !(it instanceof Iterable) && !(it instanceof Map);
    for (Field field : FIELDS.get(type)) {
      String name = field.getDeclaringClass() == type ? field.getName()
          : field.getDeclaringClass().getName() + "#" + field.getName();
      String place = type.getName() + "." + field.getName();
      // Numbers that protobuf's own code keeps about a message.
      boolean isKept = field.getName().startsWith("bitField") || field.getName().startsWith("memoized");
      Object value;
      try {
        value = get(field, it);
      } catch (IllegalAccessException | InaccessibleObjectException e) {
        values.put(name, gap(place + " cannot be read: " + e.getMessage()));
        continue;
      }
      values.put(name, tree(value, place, depth + 1, redacts && !isKept));
    }
    tree.put("f", values);
    return tree;
  }

  private Object get(Field field, Object it) throws IllegalAccessException {
    if (!field.trySetAccessible()) {
      Module module = field.getDeclaringClass().getModule();
      String open = field.getDeclaringClass().getPackageName();
      instrumentation.redefineModule(module, Set.of(), Map.of(), Map.of(open, Set.of(OURS)), Set.of(), Map.of());
      field.setAccessible(true);
    }
    return field.get(it);
  }

  private Object array(Object it, Class<?> type, String place, int depth, boolean mayRedact) {
    Map<String, Object> tree = numbered(it, "a", type.getComponentType().getName());
    if (it instanceof byte[] bytes) {
      byte[] copy = redactor == null || !mayRedact ? bytes : redactor.bytes(bytes);
      tree.put("v", Base64.getEncoder().encodeToString(copy));
      return tree;
    }
    int length = Array.getLength(it);
    if (length > OBJECTS_MAX) {
      throw new Refusal("an array at " + place + " has " + length + " elements");
    }
    List<Object> parts = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      parts.add(tree(Array.get(it, i), place, depth + 1, mayRedact));
    }
    tree.put("v", parts);
    return tree;
  }

  private Map<String, Object> numbered(Object it, String key, String type) {
    if (numbers.size() >= OBJECTS_MAX) {
      throw new Refusal("it refers to more than " + OBJECTS_MAX + " objects");
    }
    numbers.put(it, numbers.size());
    return map("n", numbers.size() - 1, key, type);
  }

  private Object gap(String text) {
    gaps.add(text);
    return map("gap", 0);
  }

  static Map<String, Object> map(Object... parts) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < parts.length; i += 2) {
      map.put((String) parts[i], parts[i + 1]);
    }
    return map;
  }
}
