package org.yunti.web.velocity.link;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Call site with an inline cache: a chain of class tests that the JIT optimises:
 *
 * <pre>
 *   class is A? -> A.getName()  : class is B? -> B.getName()  : .. : look it up
 * </pre>
 *
 * <p>The first {@link #CALLS_BEFORE_LINK} calls look the member up; then the site is linked.
 */
final class InlineCache extends MutableCallSite {
  static final int CALLS_BEFORE_LINK = 24;
  /** Classes per site; further classes are looked up at each call. */
  private static final int CLASSES_MAX = 6;

  private static final MethodHandle IS_CLASS = Handles.own(MethodHandles.lookup(), "isClass", boolean.class,
      Class.class, Object.class);
  private static final MethodHandle ARE_CLASSES = Handles.own(MethodHandles.lookup(), "areClasses", boolean.class,
      Class[].class, Object[].class);

  /** Classes of the first parameters that were added or excluded. */
  private final List<Class<?>[]> known = new ArrayList<>(2);

  InlineCache(MethodType type) {
    super(type);
  }

  /** Returns true if these classes are new and the cache has room for them. */
  synchronized boolean hasRoomFor(Class<?>... classes) {
    return known.size() < CLASSES_MAX && known.stream().noneMatch(k -> Arrays.equals(k, classes));
  }

  /** Excludes classes: they are looked up at each call. */
  synchronized void exclude(Class<?>... classes) {
    if (hasRoomFor(classes)) {
      known.add(classes);
    }
  }

  /** Adds a handle of this site's type for receivers of a class. */
  void add(Class<?> receiver, MethodHandle found) {
    add(new Class<?>[] {receiver}, found);
  }

  /** Adds a handle of this site's type for first parameters of the given classes. */
  synchronized void add(Class<?>[] classes, MethodHandle found) {
    if (hasRoomFor(classes)) {
      known.add(classes);
      MethodHandle test = classes.length == 1
          ? IS_CLASS.bindTo(classes[0])
          : ARE_CLASSES.bindTo(classes).asCollector(Object[].class, classes.length);
      setTarget(MethodHandles.guardWithTest(test, found, getTarget()));
    }
  }

  @SuppressWarnings("unused") // called through IS_CLASS
  private static boolean isClass(Class<?> expected, Object value) {
    return value != null && value.getClass() == expected;
  }

  @SuppressWarnings("unused") // called through ARE_CLASSES
  private static boolean areClasses(Class<?>[] expected, Object[] values) {
    for (int i = 0; i < expected.length; i++) {
      if (values[i] == null || values[i].getClass() != expected[i]) {
        return false;
      }
    }
    return true;
  }
}
