package org.yunti.messages.trial.derived;

import com.google.protobuf.CodedOutputStream;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A protobuf schema that is derived from examples: a message for each class, with a number for each field. A field
 * whose examples have several classes has no schema.
 */
public final class Schema {
  /** Bean coders by class, with the objects of each class. */
  private final Map<Class<?>, Bean> beans = new HashMap<>();
  private final Map<Class<?>, List<Object>> objects = new HashMap<>();
  private final Map<Class<?>, Access> accesses = new HashMap<>();

  private Schema() {}

  /**
   * Returns the coder for objects like the examples.
   *
   * @throws IllegalArgumentException if there is no schema
   */
  static Coder of(List<Object> examples) {
    Schema schema = new Schema();
    Set<Object> path = Collections.newSetFromMap(new IdentityHashMap<>());
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Object each : examples) {
      schema.gather(each, path, seen);
    }
    return schema.infer(examples, "the message");
  }

  private void gather(Object it, Set<Object> path, Set<Object> seen) {
    if (it == null || Scalars.of(it.getClass()) != null || it instanceof Enum) {
      return;
    }
    if (!path.add(it)) {
      throw new IllegalArgumentException("an object of " + it.getClass().getName() + " refers to itself");
    }
    if (seen.add(it)) {
      parts(it).forEach(part -> gather(part, path, seen));
    }
    path.remove(it);
  }

  /** Returns what an object refers to, and notes its class. */
  private Collection<?> parts(Object it) {
    if (it instanceof Collection<?> collection) {
      return collection;
    } else if (it instanceof Map<?, ?> map) {
      List<Object> all = new ArrayList<>(map.keySet());
      all.addAll(map.values());
      return all;
    } else if (it instanceof Optional<?> optional) {
      return optional.stream().toList();
    } else if (it instanceof Object[] array) {
      return Arrays.asList(array);
    } else if (it.getClass().isArray() || it.getClass().getClassLoader() == null) {
      return List.of();
    }
    Access access = accesses.computeIfAbsent(it.getClass(), Access::new);
    objects.computeIfAbsent(it.getClass(), type -> new ArrayList<>()).add(it);
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < access.count(); i++) {
      if (!access.type(i).isPrimitive()) {
        all.add(access.get(it, i));
      }
    }
    return all;
  }

  /** Returns the coder of these values; null if all are null. */
  private Coder infer(Collection<?> values, String place) {
    Set<Class<?>> types = new LinkedHashSet<>();
    for (Object each : values) {
      if (each != null) {
        types.add(each instanceof Enum<?> constant ? constant.getDeclaringClass()
            : each instanceof List ? List.class : each instanceof Set ? Set.class : each instanceof Map ? Map.class
            : each.getClass());
      }
    }
    if (types.isEmpty()) {
      return null;
    }
    if (types.size() > 1) {
      throw new IllegalArgumentException(place + " has several classes: " + types);
    }
    Class<?> type = types.iterator().next();
    Coder scalar = Scalars.of(type);
    if (scalar != null) {
      return scalar;
    }
    List<?> there = values.stream().filter(each -> each != null).toList();
    if (type == List.class || type == Set.class) {
      return Repeated.collection(element(there.stream().flatMap(c -> ((Collection<?>) c).stream()).toList(), place),
          type == Set.class);
    } else if (type == Map.class) {
      if (there.stream().anyMatch(TreeMap.class::isInstance)) {
        throw new IllegalArgumentException(place + " is a sorted map");
      }
      return Repeated.map(
          element(there.stream().flatMap(m -> ((Map<?, ?>) m).keySet().stream()).toList(), place + ".key"),
          element(new ArrayList<>(there.stream().flatMap(m -> ((Map<?, ?>) m).values().stream())
              .collect(ArrayList::new, ArrayList::add, ArrayList::addAll)), place + ".value"));
    } else if (type.isArray()) {
      List<Object> parts = new ArrayList<>();
      for (Object each : there) {
        for (int i = 0; i < Array.getLength(each); i++) {
          parts.add(Array.get(each, i));
        }
      }
      return Repeated.array(element(parts, place), type.getComponentType());
    } else if (type.getClassLoader() == null) {
      throw new IllegalArgumentException(place + " is a " + type.getName());
    }
    return bean(type);
  }

  /** Returns the coder of elements, none of which is null: protobuf has no null in lists. */
  private Coder element(List<?> parts, String place) {
    Coder coder = infer(parts, place + "[]");
    if (parts.stream().anyMatch(part -> part == null) && !place.endsWith(".value")) {
      throw new IllegalArgumentException(place + " has null as an element");
    }
    return coder != null ? coder : Scalars.of(String.class);
  }

  private Coder bean(Class<?> type) {
    Bean known = beans.get(type);
    if (known != null) {
      return known;
    }
    Access access = accesses.get(type);
    Bean bean = new Bean(access);
    beans.put(type, bean);
    List<Bean.Slot> slots = new ArrayList<>();
    for (int i = 0; i < access.count(); i++) {
      int index = i;
      Coder coder = infer(objects.get(type).stream().map(it -> access.get(it, index)).collect(
          ArrayList::new, ArrayList::add, ArrayList::addAll), access.name(i));
      if (coder != null) {
        int tag = i + 1 << 3 | coder.wire();
        int size = CodedOutputStream.computeUInt32SizeNoTag(tag);
        slots.add(new Bean.Slot(i, tag, size, coder, access.type(i).isPrimitive()));
      }
    }
    bean.slots(slots);
    return bean;
  }
}
