package org.yunti.web.oracle.artefacts;

import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Object with every property. The property's name decides its value, so unknown templates find a model. Five levels
 * down there are no more properties, because some templates follow children to the end.
 *
 * <p>It is a map in one kind of context; in another, {@link Bean} has the same values behind a method get(String).
 */
class Anything extends AbstractMap<String, Object> {
  private static final int DEPTH_MAX = 5;

  private final String path;
  private final int depth;
  private final Kind kind;
  private final Map<String, Object> written = new HashMap<>();

  /** Kind of context. */
  enum Kind {
    MAPS,
    BEANS,
    HALF_NULL
  }

  Anything(String path, int depth, Kind kind) {
    this.path = path;
    this.depth = depth;
    this.kind = kind;
  }

  Object child(String name) {
    if (written.containsKey(name)) {
      return written.get(name);
    }
    String lower = name.toLowerCase(Locale.ROOT);
    int dice = Math.floorMod((path + name).hashCode(), 7);
    if (depth >= DEPTH_MAX || kind == Kind.HALF_NULL && dice < 3) {
      return null;
    }
    if (lower.matches("(is|has|can|use|generate|show|no|with)[a-z]*|.*(enabled|able)")) {
      return dice % 2 == 0;
    }
    if (lower.matches(".*(count|size|length|index|number|width|level|depth|max|min)")) {
      return kind == Kind.BEANS ? (Object) (long) dice : (Object) dice;
    }
    if (lower.matches(".*(s|list|array|all|children|collection)")
        && !lower.matches(".*(class|utils|address|ss|this)")) {
      return list(name);
    }
    if (lower.matches(".*(name|title|text|value|type|description|package|url|href|version|message|id|date"
        + "|comment|path|class|locale)")) {
      return dice == 0 ? "" : dice == 1 ? "<" + name + " & \"" + path + "\">" : name + dice;
    }
    return make(name);
  }

  private Object make(String name) {
    return kind == Kind.BEANS ? new Bean(path + '.' + name, depth + 1)
        : new Anything(path + '.' + name, depth + 1, kind);
  }

  private Object list(String name) {
    int size = Math.floorMod((path + name).hashCode(), 3);
    if (kind == Kind.BEANS) {
      Object[] all = new Object[size];
      for (int i = 0; i < size; i++) {
        all[i] = make(name + i);
      }
      return all;
    }
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      all.add(make(name + i));
    }
    return all;
  }

  @Override
  public Object get(Object key) {
    return child(String.valueOf(key));
  }

  @Override
  public boolean containsKey(Object key) {
    return get(key) != null;
  }

  @Override
  public Object put(String key, Object value) {
    return written.put(key, value);
  }

  @Override
  public boolean isEmpty() {
    return false;
  }

  @Override
  public Set<Map.Entry<String, Object>> entrySet() {
    return Set.of(Map.entry("key", path));
  }

  @Override
  public int hashCode() {
    return path.hashCode();
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Anything other && other.path.equals(path);
  }

  @Override
  public String toString() {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  /** Object with the same properties behind get(String). */
  public static final class Bean {
    private final Anything as;

    Bean(String path, int depth) {
      as = new Anything(path, depth, Kind.BEANS);
    }

    public Object get(String name) {
      return as.child(name);
    }

    public void put(String name, Object value) {
      as.put(name, value);
    }

    @Override
    public String toString() {
      return as.toString();
    }
  }
}
