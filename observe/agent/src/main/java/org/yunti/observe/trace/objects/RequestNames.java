package org.yunti.observe.trace.objects;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names of requests: method and path, as {@code GET /item/4711}. What follows the path, such as a query, is left out.
 *
 * <p>Each server has a request class of its own, so methods are found by name. They only read.
 */
public final class RequestNames {
  /**
   * Methods of requests, and of texts that are bytes: each line is one method by its names in several servers.
   */
  private static final String[][] NAMES = {
      {"getRequest"},
      {"getMethod", "getRequestMethod", "method"},
      {"getRequestURI", "requestURI", "getHttpURI"},
      {"getType"}, {"getByteChunk"}, {"getBuffer"}, {"getStart"}, {"getEnd"}};
  private static final int REQUEST = 0;
  private static final int METHOD = 1;
  private static final int PATH = 2;
  private static final int TYPE = 3;
  private static final int CHUNK = 4;
  private static final int BUFFER = 5;
  private static final int START = 6;
  private static final int END = 7;
  /** Type of a text of Tomcat that is bytes. Its own conversion would change what the server does next. */
  private static final Integer BYTES = 2;

  private final Map<Class<?>, Method[]> known = new ConcurrentHashMap<>();
  private final int bytesMax;

  public RequestNames(int bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Returns the name in bytes; none if the object does not say it. */
  public byte[] of(Object object) {
    try {
      String name = name(object);
      byte[] bytes = name == null ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
      return bytes.length <= bytesMax ? bytes : Arrays.copyOf(bytes, bytesMax);
    } catch (Throwable e) {
      return new byte[0];
    }
  }

  private String name(Object object) throws ReflectiveOperationException {
    if (object instanceof String text) {
      return text;
    }
    if (object instanceof Object[] words) {
      return words.length < 2 ? null : words[0] + " " + path(String.valueOf(words[1]));
    }
    Method[] methods = methods(object.getClass());
    if (methods[REQUEST] != null && methods[METHOD] == null) {
      Object request = methods[REQUEST].invoke(object);
      return request == null ? null : name(request);
    }
    if (methods[METHOD] == null || methods[PATH] == null) {
      return null;
    }
    String path = text(methods[PATH].invoke(object));
    String method = text(methods[METHOD].invoke(object));
    return path == null || method == null ? null : method + " " + path(path);
  }

  private static String path(String uri) {
    for (int i = 0; i < uri.length(); i++) {
      char c = uri.charAt(i);
      if (c == '?' || c == '#') {
        return uri.substring(0, i);
      }
    }
    return uri;
  }

  private String text(Object value) throws ReflectiveOperationException {
    if (value == null || value instanceof String) {
      return (String) value;
    }
    Method[] methods = methods(value.getClass());
    if (methods[TYPE] == null || methods[CHUNK] == null || !BYTES.equals(methods[TYPE].invoke(value))) {
      return value.toString();
    }
    Object bytes = methods[CHUNK].invoke(value);
    Method[] ofBytes = methods(bytes.getClass());
    int start = (int) ofBytes[START].invoke(bytes);
    int end = (int) ofBytes[END].invoke(bytes);
    return new String((byte[]) ofBytes[BUFFER].invoke(bytes), start, end - start, StandardCharsets.ISO_8859_1);
  }

  private Method[] methods(Class<?> type) {
    Method[] found = known.get(type);
    if (found == null) {
      found = new Method[NAMES.length];
      for (int i = 0; i < NAMES.length; i++) {
        found[i] = first(type, NAMES[i]);
      }
      known.put(type, found);
    }
    return found;
  }

  private static Method first(Class<?> type, String[] names) {
    for (String name : names) {
      Method method = find(type, name);
      if (method != null) {
        return method;
      }
    }
    return null;
  }

  /** Returns a method without parameters that may be called: in a class or interface that its module exports. */
  private static Method find(Class<?> type, String name) {
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      Method method = in(at, name);
      if (method != null) {
        return method;
      }
      for (Class<?> one : at.getInterfaces()) {
        method = find(one, name);
        if (method != null) {
          return method;
        }
      }
    }
    return null;
  }

  private static Method in(Class<?> type, String name) {
    try {
      Method method = type.getDeclaredMethod(name);
      return method.trySetAccessible() ? method : null;
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }
}
