package org.yunti.table.frozen;

import java.lang.reflect.Type;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.RandomAccess;
import java.util.Set;
import java.util.function.IntFunction;


/** Frozen lists, sets and maps: read in place, or copied with the record that has them. */
final class FrozenCollections {
  private FrozenCollections() {
  }

  static Object of(Reader reader, int place, int tag, Type[] arguments, Map<Integer, Object> copies) {
    Object known = copies == null ? null : copies.get(place);
    if (known != null) {
      return known;
    }
    Type first = Reader.argument(arguments, 0);
    Object of;
    if (tag == Tag.LIST) {
      List<Object> list = new FrozenList(reader, place, first, copies);
      of = copies == null ? list : Collections.unmodifiableList(new ArrayList<>(list));
    } else {
      Entries entries = new Entries(reader, place, tag == Tag.SET ? 4 : 8, first);
      if (tag == Tag.SET) {
        Set<Object> set = new FrozenSet(entries, copies);
        of = copies == null ? set : Collections.unmodifiableSet(new LinkedHashSet<>(set));
      } else {
        Map<Object, Object> map = new FrozenMap(entries, Reader.argument(arguments, 1), copies);
        of = copies == null ? map : Collections.unmodifiableMap(new LinkedHashMap<>(map));
      }
    }
    if (copies != null) {
      copies.put(place, of);
    }
    return of;
  }

  /** Reads the number of elements of some bytes each, which fit behind a head. */
  private static int count(Reader reader, int place, int headBytes, int width) {
    int count = reader.bytes.getInt(place + 1);
    if (count < 0 || (long) count * width > reader.bytes.size() - place - headBytes) {
      throw reader.damaged(place);
    }
    return count;
  }

  private static final class FrozenList extends AbstractList<Object> implements RandomAccess {
    private final Reader reader;
    private final int place;
    private final int size;
    private final Type type;
    private final Map<Integer, Object> copies;

    FrozenList(Reader reader, int place, Type type, Map<Integer, Object> copies) {
      this.reader = reader;
      this.type = type;
      this.copies = copies;
      this.place = place;
      size = count(reader, place, 5, 4);
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public Object get(int i) {
      if (i < 0 || i >= size) {
        throw new IndexOutOfBoundsException("element " + i + " of " + size);
      }
      return reader.read(reader.reference(place + 5 + 4L * i, place), type, copies);
    }
  }

  /** Keys of a set or map, with their index. */
  private static final class Entries {
    final Reader reader;
    final int size;
    final Type type;
    private final int place;
    private final int width;
    private final long first;
    /** Slots of the index; 0 if some key is no scalar. */
    private final int slots;

    Entries(Reader reader, int place, int width, Type type) {
      this.reader = reader;
      this.place = place;
      this.width = width;
      this.type = type;
      size = count(reader, place, 9, width);
      slots = reader.bytes.getInt(place + 5);
      first = place + 9L;
      if ((slots & slots - 1) != 0 || slots < 0 || slots != 0 && slots <= size
          || 4L * slots > reader.bytes.size() - first - (long) width * size) {
        throw reader.damaged(place);
      }
    }

    Object key(int i, Map<Integer, Object> copies) {
      return reader.read(keyPlace(i), type, copies);
    }

    int keyPlace(int i) {
      return reader.reference(first + (long) width * i, place);
    }

    int valuePlace(int i) {
      return reader.reference(first + (long) width * i + 4, place);
    }

    /** Returns the number of a key, or -1. */
    int find(Object key) {
      byte[] bytes = key == null || slots == 0 ? null : Scalars.bytes(key, reader::enumNumber);
      if (bytes == null) {
        return slots == 0 ? scan(key) : -1;
      }
      int slot = (int) Xxh64.hash(bytes, 0, bytes.length, 0) & slots - 1;
      // The index of a damaged file may be full.
      for (int probes = 0; probes < slots; probes++) {
        int entry = reader.bytes.getInt(first + (long) width * size + 4L * slot) - 1;
        if (entry < 0) {
          return -1;
        }
        if (entry >= size) {
          throw reader.damaged(place);
        }
        if (reader.bytes.equal(keyPlace(entry), bytes)) {
          return entry;
        }
        slot = slot + 1 & slots - 1;
      }
      return -1;
    }

    private int scan(Object key) {
      for (int i = 0; i < size; i++) {
        Object one = key(i, null);
        if (one == null ? key == null : one.equals(key)) {
          return i;
        }
      }
      return -1;
    }
  }

  private static final class FrozenSet extends AbstractSet<Object> {
    private final Entries entries;
    private final Map<Integer, Object> copies;

    FrozenSet(Entries entries, Map<Integer, Object> copies) {
      this.entries = entries;
      this.copies = copies;
    }

    @Override
    public int size() {
      return entries.size;
    }

    @Override
    public boolean contains(Object key) {
      return entries.find(key) >= 0;
    }

    @Override
    public Iterator<Object> iterator() {
      return new Steps<>(entries.size, i -> entries.key(i, copies));
    }
  }

  private static final class FrozenMap extends AbstractMap<Object, Object> {
    private final Entries entries;
    private final Type type;
    private final Map<Integer, Object> copies;

    FrozenMap(Entries entries, Type type, Map<Integer, Object> copies) {
      this.entries = entries;
      this.type = type;
      this.copies = copies;
    }

    @Override
    public int size() {
      return entries.size;
    }

    @Override
    public boolean containsKey(Object key) {
      return entries.find(key) >= 0;
    }

    @Override
    public Object get(Object key) {
      int i = entries.find(key);
      return i < 0 ? null : value(i);
    }

    private Object value(int i) {
      return entries.reader.read(entries.valuePlace(i), type, copies);
    }

    @Override
    public Set<Entry<Object, Object>> entrySet() {
      return new AbstractSet<Entry<Object, Object>>() {
        @Override
        public int size() {
          return entries.size;
        }

        @Override
        public Iterator<Entry<Object, Object>> iterator() {
          return new Steps<>(entries.size, i -> new SimpleImmutableEntry<>(entries.key(i, copies), value(i)));
        }
      };
    }
  }

  /** Iterates over numbered elements. */
  private static final class Steps<E> implements Iterator<E> {
    private final int size;
    private final IntFunction<E> element;
    private int at;

    Steps(int size, IntFunction<E> element) {
      this.size = size;
      this.element = element;
    }

    @Override
    public boolean hasNext() {
      return at < size;
    }

    @Override
    public E next() {
      if (at >= size) {
        throw new NoSuchElementException();
      }
      return element.apply(at++);
    }
  }
}
