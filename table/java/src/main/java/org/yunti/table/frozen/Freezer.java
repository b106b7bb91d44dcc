package org.yunti.table.frozen;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.yunti.table.view.RecordClass;

/**
 * Lays out a graph: each object once, behind what it refers to. The callers of its methods give the path from the root,
 * which is the message of a refusal: {@code orders[3].customer.lock}.
 */
final class Freezer {
  /** Deeper graphs would exhaust the stack of a thread, here or in a reader. */
  private static final int DEPTH_MAX = 1000;
  private static final int IN_PROGRESS = -1;

  private final Output objects = new Output();
  private final Output classes = new Output();
  private final Map<Object, Integer> places = new IdentityHashMap<>();
  private final Map<ByteBuffer, Integer> scalars = new HashMap<>();
  private final Map<Class<?>, Integer> classNumbers = new LinkedHashMap<>();
  private final Map<Class<?>, RecordClass<?>> records = new HashMap<>();
  private int depth;

  private Freezer() {
    objects.number(0, 8);
  }

  /** Returns the two parts of a table: classes, objects. */
  static byte[][] freeze(Object graph) {
    Freezer freezer = new Freezer();
    freezer.objects.setInt(4, freezer.add(graph, ""));
    Output all = new Output();
    all.leb(freezer.classNumbers.size());
    all.put(freezer.classes.toBytes());
    return new byte[][] {all.toBytes(), freezer.objects.toBytes()};
  }

  /** Adds an object and all it refers to. Returns its place. */
  private int add(Object object, String path) {
    if (object == null) {
      return 0;
    }
    byte[] scalar = Scalars.bytes(object, this::enumNumber);
    if (scalar != null) {
      return scalars.computeIfAbsent(ByteBuffer.wrap(scalar), bytes -> put(scalar));
    }
    Integer known = places.get(object);
    if (known != null) {
      if (known == IN_PROGRESS) {
        throw refused(path, "is an object that contains it: cycles cannot be frozen");
      }
      return known;
    }
    if (++depth > DEPTH_MAX) {
      throw refused(path, "is nested more than " + DEPTH_MAX + " deep and cannot be frozen");
    }
    places.put(object, IN_PROGRESS);
    Output body = body(object, path);
    depth--;
    int place = put(body.toBytes());
    places.put(object, place);
    return place;
  }

  private int put(byte[] bytes) {
    int place = objects.size();
    objects.put(bytes);
    return place;
  }

  private static IllegalArgumentException refused(String path, String why) {
    return new IllegalArgumentException((path.isEmpty() ? "the root" : path) + ": " + why);
  }

  private Output body(Object object, String path) {
    Output out = new Output();
    if (object instanceof List) {
      addList(out, (List<?>) object, path);
    } else if (object instanceof Set) {
      addSet(out, (Set<?>) object, path);
    } else if (object instanceof Map) {
      addMap(out, (Map<?, ?>) object, path);
    } else if (object instanceof Optional) {
      out.number(Tag.OPTIONAL, 1);
      out.number(((Optional<?>) object).isPresent() ? add(((Optional<?>) object).get(), path) : 0, 4);
    } else if (object.getClass().isArray() && Tag.of(object.getClass().getComponentType()) != Tag.REFERENCE) {
      int tag = Tag.of(object.getClass().getComponentType());
      int length = Array.getLength(object);
      out.number(Tag.ARRAY, 1);
      out.number(tag, 1);
      out.number(length, 4);
      for (int i = 0; i < length; i++) {
        out.primitive(tag, Array.get(object, i));
      }
    } else if (RecordClass.isRecord(object.getClass())) {
      addRecord(out, object, path);
    } else if (object instanceof String) {
      throw refused(path, "a text with half a surrogate pair cannot be frozen");
    } else {
      throw refused(path, object.getClass().getName() + " cannot be frozen");
    }
    return out;
  }

  private void addRecord(Output out, Object object, String path) {
    RecordClass<?> type = records.computeIfAbsent(object.getClass(), RecordClass::new);
    int number = recordNumber(object.getClass(), type);
    out.number(Tag.RECORD, 1);
    out.leb(number);
    for (int i = 0; i < type.size(); i++) {
      Object value = type.value(object, i);
      int kind = Tag.of(type.type(i));
      if (kind == Tag.REFERENCE) {
        out.number(add(value, path.isEmpty() ? type.name(i) : path + "." + type.name(i)), 4);
      } else {
        out.primitive(kind, value);
      }
    }
  }

  private void addList(Output out, Collection<?> list, String path) {
    out.number(Tag.LIST, 1);
    out.number(list.size(), 4);
    int i = 0;
    for (Object element : list) {
      out.number(add(element, path + "[" + i++ + "]"), 4);
    }
  }

  private void addSet(Output out, Set<?> set, String path) {
    out.number(Tag.SET, 1);
    out.number(set.size(), 4);
    int[] elements = new int[set.size()];
    int i = 0;
    for (Object element : set) {
      elements[i] = add(element, path + "{" + i + "}");
      i++;
    }
    addIndexed(out, set.toArray(), elements, null);
  }

  private void addMap(Output out, Map<?, ?> map, String path) {
    out.number(Tag.MAP, 1);
    out.number(map.size(), 4);
    int[] keys = new int[map.size()];
    int[] values = new int[map.size()];
    Object[] objects = new Object[map.size()];
    int i = 0;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      objects[i] = entry.getKey();
      keys[i] = add(entry.getKey(), path + ".key" + i);
      values[i] = add(entry.getValue(), path + "[" + entry.getKey() + "]");
      i++;
    }
    addIndexed(out, objects, keys, values);
  }

  /** Writes keys with an index of their hashes, if all are scalars. */
  private void addIndexed(Output out, Object[] objects, int[] keys, int[] values) {
    int slots = Integer.highestOneBit(Math.max(1, keys.length)) * 4;
    int[] index = new int[slots];
    for (int i = 0; i < keys.length; i++) {
      byte[] bytes = objects[i] == null ? null : Scalars.bytes(objects[i], this::enumNumber);
      if (bytes == null) {
        slots = 0;
        break;
      }
      int slot = (int) Xxh64.hash(bytes, 0, bytes.length, 0) & slots - 1;
      while (index[slot] != 0) {
        slot = slot + 1 & slots - 1;
      }
      index[slot] = i + 1;
    }
    out.number(slots, 4);
    for (int i = 0; i < keys.length; i++) {
      out.number(keys[i], 4);
      if (values != null) {
        out.number(values[i], 4);
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      out.number(index[slot], 4);
    }
  }

  private int enumNumber(Class<?> type) {
    Integer known = classNumbers.get(type);
    if (known == null) {
      known = classNumbers.size();
      classNumbers.put(type, known);
      classes.number(Tag.ENUM, 1);
      classes.text(type.getName());
    }
    return known;
  }

  private int recordNumber(Class<?> type, RecordClass<?> of) {
    Integer known = classNumbers.get(type);
    if (known == null) {
      known = classNumbers.size();
      classNumbers.put(type, known);
      classes.number(Tag.RECORD, 1);
      classes.text(type.getName());
      Set<Class<?>> interfaces = new LinkedHashSet<>();
      collect(type, interfaces);
      classes.leb(interfaces.size());
      interfaces.forEach(one -> classes.text(one.getName()));
      classes.leb(of.size());
      for (int i = 0; i < of.size(); i++) {
        classes.number(Tag.of(of.type(i)), 1);
        classes.text(of.name(i));
      }
    }
    return known;
  }

  private static void collect(Class<?> type, Set<Class<?>> into) {
    for (Class<?> one : type.getInterfaces()) {
      into.add(one);
      collect(one, into);
    }
  }
}
