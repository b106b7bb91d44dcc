package org.yunti.observe.trace.code;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;

/** The methods that are looked for. */
public final class Patterns {
  private static final String OURS = "org.yunti.observe.trace.";

  private final List<MethodPattern> all = new ArrayList<>();

  public Patterns(List<String> texts) {
    for (String text : texts) {
      all.add(new MethodPattern(text));
    }
  }

  /** Those that fit a class. */
  List<MethodPattern> of(String className, boolean isOfJdk) {
    List<MethodPattern> fitting = new ArrayList<>();
    if (!className.startsWith(OURS)) {
      for (MethodPattern pattern : all) {
        if (pattern.fitsClass(className, isOfJdk)) {
          pattern.classSeen = className;
          fitting.add(pattern);
        }
      }
    }
    return fitting;
  }

  /** Called with what has met nothing, and a hint. */
  public interface Missing {
    void accept(String pattern, String hint);
  }

  public void missing(Instrumentation instrumentation, Missing each) {
    for (MethodPattern pattern : all) {
      if (!pattern.isMet) {
        each.accept(pattern.text, hint(pattern, instrumentation));
      }
    }
  }

  public boolean isAllMet() {
    for (MethodPattern pattern : all) {
      if (!pattern.isMet) {
        return false;
      }
    }
    return true;
  }

  private static String hint(MethodPattern pattern, Instrumentation instrumentation) {
    if (pattern.classSeen != null) {
      String near = Nearest.of(pattern.methodName, pattern.seen);
      String has = near != null ? "did you mean " + near + "?" : "it has " + first(pattern.seen);
      return "the class " + pattern.classSeen + " is there; " + (pattern.seen.isEmpty() ? "nothing of it can be traced" : has);
    }
    String simple = simple(pattern.className);
    List<String> names = new ArrayList<>();
    String ofJdk = null;
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (type.isArray() || type.isHidden() || type.getName().startsWith(OURS)) {
        continue;
      }
      if (Rewriter.isOfJdk(type.getClassLoader())) {
        if (pattern.className.indexOf('*') < 0 && pattern.fitsName(type.getName())) {
          ofJdk = ofJdk == null || ofJdk.indexOf('$') >= 0 ? type.getName() : ofJdk;
        }
      } else {
        names.add(type.getName());
      }
    }
    if (ofJdk != null) {
      return "classes of the JDK are traced where they are named in full: " + ofJdk + "." + pattern.methodName;
    }
    List<String> simples = new ArrayList<>();
    for (String name : names) {
      simples.add(simple(name));
    }
    String near = Nearest.of(simple, simples);
    return near == null
        ? "no class of such a name has been loaded"
        : "the nearest class that has been loaded is " + names.get(simples.indexOf(near));
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
