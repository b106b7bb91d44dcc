package org.yunti.messages.trial.derived;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A list, set, map or array as a message with one repeated field: one byte of a tag for each element. */
final class Repeated extends Coder.Delimited {
  private final Coder element;
  private final int tag;
  private final Function<Object, Collection<?>> to;
  private final Function<List<Object>, Object> from;

  private Repeated(Coder element, Function<Object, Collection<?>> to, Function<List<Object>, Object> from) {
    this.element = element;
    this.tag = 1 << 3 | element.wire();
    this.to = to;
    this.from = from;
  }

  static Coder collection(Coder element, boolean isSet) {
    return new Repeated(element, it -> (Collection<?>) it, isSet ? LinkedHashSet::new : it -> it);
  }

  static Coder array(Coder element, Class<?> component) {
    return new Repeated(element, it -> boxed(it), list -> {
      Object array = Array.newInstance(component, list.size());
      for (int i = 0; i < list.size(); i++) {
        Array.set(array, i, list.get(i));
      }
      return array;
    });
  }

  private static List<Object> boxed(Object array) {
    if (array instanceof Object[] objects) {
      return Arrays.asList(objects);
    }
    List<Object> list = new ArrayList<>(Array.getLength(array));
    for (int i = 0; i < Array.getLength(array); i++) {
      list.add(Array.get(array, i));
    }
    return list;
  }

  static Coder map(Coder key, Coder value) {
    return new Repeated(new Entry(key, value), it -> ((Map<?, ?>) it).entrySet(), list -> {
      Map<Object, Object> map = new LinkedHashMap<>();
      for (Object each : list) {
        Map.Entry<?, ?> entry = (Map.Entry<?, ?>) each;
        map.put(entry.getKey(), entry.getValue());
      }
      return map;
    });
  }

  @Override
  int body(Object value, Sizes sizes) {
    int size = 0;
    for (Object each : to.apply(value)) {
      size += 1 + element.size(each, sizes);
    }
    return size;
  }

  @Override
  void writeBody(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
    for (Object each : to.apply(value)) {
      out.writeUInt32NoTag(tag);
      element.write(each, out, sizes);
    }
  }

  @Override
  Object readBody(CodedInputStream in) throws IOException {
    List<Object> list = new ArrayList<>();
    while (in.readTag() != 0) {
      list.add(element.read(in));
    }
    return from.apply(list);
  }

  /** An entry of a map: a message with a key and a value. */
  private static final class Entry extends Coder.Delimited {
    private final Coder key;
    private final Coder value;

    Entry(Coder key, Coder value) {
      this.key = key;
      this.value = value;
    }

    @Override
    int body(Object it, Sizes sizes) {
      Map.Entry<?, ?> entry = (Map.Entry<?, ?>) it;
      int size = 1 + key.size(entry.getKey(), sizes);
      return entry.getValue() == null ? size : size + 1 + value.size(entry.getValue(), sizes);
    }

    @Override
    void writeBody(Object it, CodedOutputStream out, Sizes sizes) throws IOException {
      Map.Entry<?, ?> entry = (Map.Entry<?, ?>) it;
      out.writeUInt32NoTag(1 << 3 | key.wire());
      key.write(entry.getKey(), out, sizes);
      if (entry.getValue() != null) {
        out.writeUInt32NoTag(2 << 3 | value.wire());
        value.write(entry.getValue(), out, sizes);
      }
    }

    @Override
    Object readBody(CodedInputStream in) throws IOException {
      in.readTag();
      Object first = key.read(in);
      if (in.readTag() == 0) {
        return new AbstractMap.SimpleEntry<>(first, null);
      }
      Object second = value.read(in);
      in.readTag();
      return new AbstractMap.SimpleEntry<>(first, second);
    }
  }
}
