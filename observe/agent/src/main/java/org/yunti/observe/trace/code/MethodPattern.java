package org.yunti.observe.trace.code;

import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Pattern;

/**
 * A user's pattern for methods: a class, a dot, and a method.
 *
 * <pre>
 *   com.shop.Cart.total   Cart.total (in any package)   Cart.&lt;init&gt;
 *   com.shop.Cart.*       com.shop.*Service.get*        com.shop.** (all below)
 * </pre>
 *
 * One star matches any part of a name, two match any names with their dots. A dot or a dollar precedes a nested class.
 */
final class MethodPattern {
  /** Method names kept for a hint. */
  private static final int NAMES_MAX = 500;

  final String text;
  final String className;
  final String methodName;
  private final Pattern classes;
  private final Pattern methods;
  private final boolean hasPackage;
  /** True if a method has matched. */
  volatile boolean isMatched;
  /** Method names of the matching classes. */
  final Set<String> methodNames = new ConcurrentSkipListSet<>();
  /** A matching class; null if there is none. */
  volatile String matchingClass;

  MethodPattern(String text) {
    this.text = text;
    int dot = text.endsWith(".**") ? -1 : text.lastIndexOf('.');
    className = dot < 0 ? text : text.substring(0, dot);
    methodName = dot < 0 ? "*" : text.substring(dot + 1);
    hasPackage = className.indexOf('.') >= 0 || className.contains("**");
    classes = Pattern.compile((hasPackage ? "" : "(.*[.$])?") + glob(className));
    methods = Pattern.compile(glob(methodName));
  }

  private static String glob(String text) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != '*') {
        regex.append(Pattern.quote(String.valueOf(c)));
      } else if (text.startsWith("**", i)) {
        regex.append(".*");
        i++;
      } else {
        regex.append("[^.]*");
      }
    }
    return regex.toString();
  }

  /** Returns true if a class matches. JDK classes match by their full names only. */
  boolean matchesClass(String name, boolean isOfJdk) {
    if (isOfJdk) {
      return name.equals(className) || name.replace('$', '.').equals(className);
    }
    return matchesName(name);
  }

  boolean matchesName(String name) {
    return classes.matcher(name).matches()
        || name.indexOf('$') >= 0 && classes.matcher(name.replace('$', '.')).matches();
  }

  /** Returns true if a method matches. Stars match neither constructors nor synthetic methods. */
  boolean matchesMethod(String name, boolean isSynthetic) {
    if (methodNames.size() < NAMES_MAX && !isSynthetic) {
      methodNames.add(name);
    }
    if (isSynthetic || name.startsWith("<")) {
      return name.equals(methodName);
    }
    return methods.matcher(name).matches();
  }
}
