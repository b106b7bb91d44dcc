package org.yunti.observe.trace.code;

import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Pattern;

/**
 * Methods as a user names them: a class, a point, and a method.
 *
 * <pre>
 *   com.shop.Cart.total   Cart.total (of any package)   Cart.&lt;init&gt;   com.shop.Cart.*   com.shop.*Service.get*   com.shop.** (all below)
 * </pre>
 *
 * A star is any part of a name, two are any names with their points. Nested classes have a point or a dollar before their name.
 */
final class MethodPattern {
  /** Names that are remembered for a hint. */
  private static final int NAMES_MAX = 500;

  final String text;
  final String className;
  final String methodName;
  private final Pattern classes;
  private final Pattern methods;
  private final boolean hasPackage;
  /** A method has been found. */
  volatile boolean isMet;
  /** What methods there are in classes that fit. */
  final Set<String> seen = new ConcurrentSkipListSet<>();
  volatile String classSeen;

  MethodPattern(String text) {
    this.text = text;
    int point = text.endsWith(".**") ? -1 : text.lastIndexOf('.');
    className = point < 0 ? text : text.substring(0, point);
    methodName = point < 0 ? "*" : text.substring(point + 1);
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

  /** Of classes of the JDK only what is named in full. */
  boolean fitsClass(String name, boolean isOfJdk) {
    if (isOfJdk) {
      return name.equals(className) || name.replace('$', '.').equals(className);
    }
    return fitsName(name);
  }

  boolean fitsName(String name) {
    return classes.matcher(name).matches() || name.indexOf('$') >= 0 && classes.matcher(name.replace('$', '.')).matches();
  }

  /** A star does not mean constructors, nor what the compiler has made. */
  boolean fitsMethod(String name, boolean isSynthetic) {
    if (seen.size() < NAMES_MAX && !isSynthetic) {
      seen.add(name);
    }
    if (isSynthetic || name.startsWith("<")) {
      return name.equals(methodName);
    }
    return methods.matcher(name).matches();
  }
}
