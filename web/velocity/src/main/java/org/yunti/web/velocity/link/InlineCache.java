package org.yunti.web.velocity.link;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A call site that remembers what it found for the classes it has seen, as a chain of tests that the JIT sees through:
 *
 * <pre>
 *   class is A? -> A.getName()  : class is B? -> B.getName()  : .. : look it up
 * </pre>
 *
 * <p>It begins with looking up, and is linked when it has been asked {@link #CALLS_BEFORE_LINK} times.
 */
final class InlineCache extends MutableCallSite {
  static final int CALLS_BEFORE_LINK = 24;
  /** More classes than that are looked up each time. */
  private static final int CLASSES_MAX = 6;

  private static final MethodHandle IS_CLASS = Handles.own(MethodHandles.lookup(), "isClass", boolean.class, Class.class, Object.class);
  private static final MethodHandle ARE_CLASSES = Handles.own(MethodHandles.lookup(), "areClasses", boolean.class, Class[].class,
      Object[].class);

  /** What has been added or excluded: the classes of the first parameters. */
  private final List<Class<?>[]> known = new ArrayList<>(2);

  InlineCache(MethodType type) {
    super(type);
  }

  /** Whether these classes are new, and may be added. */
  synchronized boolean hasRoomFor(Class<?>... classes) {
    return known.size() < CLASSES_MAX && known.stream().noneMatch(k -> Arrays.equals(k, classes));
  }

  /** These are looked up each time. */
  synchronized void exclude(Class<?>... classes) {
    if (hasRoomFor(classes)) {
      known.add(classes);
    }
  }

  /** {@code found}, which has the type of this site, serves a receiver of a class. */
  void add(Class<?> receiver, MethodHandle found) {
    add(new Class<?>[] {receiver}, found);
  }

  /** The same where the first parameters have to be of given classes. */
  synchronized void add(Class<?>[] classes, MethodHandle found) {
    if (hasRoomFor(classes)) {
      known.add(classes);
      MethodHandle test = classes.length == 1
          ? IS_CLASS.bindTo(classes[0])
          : ARE_CLASSES.bindTo(classes).asCollector(Object[].class, classes.length);
      setTarget(MethodHandles.guardWithTest(test, found, getTarget()));
    }
  }

  @SuppressWarnings("unused") // by IS_CLASS
  private static boolean isClass(Class<?> expected, Object value) {
    return value != null && value.getClass() == expected;
  }

  @SuppressWarnings("unused") // by ARE_CLASSES
  private static boolean areClasses(Class<?>[] expected, Object[] values) {
    for (int i = 0; i < expected.length; i++) {
      if (values[i] == null || values[i].getClass() != expected[i]) {
        return false;
      }
    }
    return true;
  }
}
