package org.yunti.observe.trace.code;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;

/** All patterns of a trace. */
public final class Patterns {
  private static final String AGENT = "org.yunti.observe.trace.";

  private final List<MethodPattern> all = new ArrayList<>();

  public Patterns(List<String> texts) {
    for (String text : texts) {
      all.add(new MethodPattern(text));
    }
  }

  /** Returns the patterns that match a class. */
  List<MethodPattern> of(String className, boolean isOfJdk) {
    List<MethodPattern> matching = new ArrayList<>();
    if (!className.startsWith(AGENT)) {
      for (MethodPattern pattern : all) {
        if (pattern.matchesClass(className, isOfJdk)) {
          pattern.matchingClass = className;
          matching.add(pattern);
        }
      }
    }
    return matching;
  }

  /** Receiver of a pattern without a match, and a hint. */
  public interface Missing {
    void accept(String pattern, String hint);
  }

  public void missing(Instrumentation instrumentation, Missing each) {
    for (MethodPattern pattern : all) {
      if (!pattern.isMatched) {
        each.accept(pattern.text, hint(pattern, instrumentation));
      }
    }
  }

  public boolean areAllMatched() {
    for (MethodPattern pattern : all) {
      if (!pattern.isMatched) {
        return false;
      }
    }
    return true;
  }

  private static String hint(MethodPattern pattern, Instrumentation instrumentation) {
    if (pattern.matchingClass != null) {
      String near = NearestName.of(pattern.methodName, pattern.methodNames);
      String has = near != null ? "did you mean " + near + "?" : "it has " + first(pattern.methodNames);
      return "the class " + pattern.matchingClass + " is loaded; "
          + (pattern.methodNames.isEmpty() ? "none of its methods can be traced" : has);
    }
    String simple = simple(pattern.className);
    List<String> names = new ArrayList<>();
    String ofJdk = null;
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (type.isArray() || type.isHidden() || type.getName().startsWith(AGENT)) {
        continue;
      }
      if (Rewriter.isOfJdk(type.getClassLoader())) {
        if (pattern.className.indexOf('*') < 0 && pattern.matchesName(type.getName())) {
          ofJdk = ofJdk == null || ofJdk.indexOf('$') >= 0 ? type.getName() : ofJdk;
        }
      } else {
        names.add(type.getName());
      }
    }
    if (ofJdk != null) {
      return "name classes of the JDK in full: " + ofJdk + "." + pattern.methodName;
    }
    List<String> simples = new ArrayList<>();
    for (String name : names) {
      simples.add(simple(name));
    }
    String near = NearestName.of(simple, simples);
    return near == null
        ? "no loaded class has such a name"
        : "the nearest loaded class is " + names.get(simples.indexOf(near));
  }

  private static String simple(String name) {
    return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
  }

  private static String first(Iterable<String> names) {
    StringBuilder text = new StringBuilder();
    int n = 0;
    for (String name : names) {
      if (++n > 8) {
        return text.append(", ..").toString();
      }
      text.append(n == 1 ? "" : ", ").append(name);
    }
    return text.toString();
  }
}
