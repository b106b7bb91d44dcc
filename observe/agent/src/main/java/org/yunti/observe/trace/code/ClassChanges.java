package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.Opcodes;
import org.yunti.observe.trace.calls.Recorder;

/** Changes classes that are loaded now or later, and changes them back at the end. Subclasses choose what changes. */
public abstract class ClassChanges implements ClassFileTransformer {
  /** Classes changed in one operation, during which all threads wait. */
  private static final int BATCH = 50;
  private static final int CLASSES_MAX = 5_000;
  private static final int SKIPS_MAX = 200;
  private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
  /** Classes that the agent uses before it can detect its own calls. */
  private static final List<String> NEVER = List.of(
      "java.lang.Object", "java.lang.Thread", "java.lang.VirtualThread", "java.lang.BaseVirtualThread",
      "java.lang.YuntiTrace", "java.lang.ref.", "java.lang.invoke.", "java.util.concurrent.atomic.", "jdk.internal.",
      "sun.instrument.", "java.lang.instrument.");

  private record News(int number, String text) {}

  private final Instrumentation instrumentation;
  final Hook hook;
  private final Recorder recorder;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final Set<String> skips = ConcurrentHashMap.newKeySet();
  /** New methods with their numbers. A negative number marks a skip. */
  private final Queue<News> news = new ConcurrentLinkedQueue<>();
  private final Set<String> changed = ConcurrentHashMap.newKeySet();
  /** Classes whose changed form the JVM rejected. */
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  ClassChanges(Instrumentation instrumentation, Hook hook, Recorder recorder) {
    this.instrumentation = instrumentation;
    this.hook = hook;
    this.recorder = recorder;
  }

  /** Returns true if a class has places to change. */
  abstract boolean matches(String name, boolean isOfJdk);

  /** Returns the visitor that changes a class. */
  abstract Change change(ClassWriter writer, String name, boolean isOfJdk, Set<String> tooLong);

  static boolean isOfJdk(ClassLoader loader) {
    return loader == null || loader == PLATFORM;
  }

  public void begin() {
    // Loads the classes needed, before a class of the target waits for them.
    matches("a.Class", false);
    instrumentation.addTransformer(this, true);
    List<Class<?>> matching = new ArrayList<>();
    int hidden = 0;
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (type.isArray() || type.isPrimitive() || !matches(type.getName(), isOfJdk(type.getClassLoader()))) {
        continue;
      }
      if (type.isHidden()) {
        hidden++;
      } else if (isNever(type.getName())) {
        skip(type.getName(), "the trace itself needs it");
      } else if (!instrumentation.isModifiableClass(type)) {
        skip(type.getName(), "the JVM does not allow changes");
      } else {
        matching.add(type);
      }
    }
    if (hidden > 0) {
      skip(hidden + " hidden classes, such as lambdas", "they cannot be changed");
    }
    if (matching.size() > CLASSES_MAX) {
      throw new IllegalArgumentException(
          matching.size() + " classes match, which are too many to change; name a package");
    }
    retransform(matching, true);
  }

  /**
   * Restores all changed methods.
   *
   * @param millis time for classes to load that are being loaded with changes
   */
  public void end(long millis) throws InterruptedException {
    instrumentation.removeTransformer(this);
    Set<Class<?>> done = new HashSet<>();
    for (int i = 0; i < 2; i++) {
      List<Class<?>> back = new ArrayList<>();
      for (Class<?> type : instrumentation.getAllLoadedClasses()) {
        if (changed.contains(type.getName()) && !done.contains(type)) {
          back.add(type);
        }
      }
      retransform(back, false);
      done.addAll(back);
      if (i == 0) {
        Thread.sleep(millis);
      }
    }
  }

  private void retransform(List<Class<?>> classes, boolean canRefuse) {
    for (int from = 0; from < classes.size(); from += BATCH) {
      List<Class<?>> batch = classes.subList(from, Math.min(classes.size(), from + BATCH));
      try {
        instrumentation.retransformClasses(batch.toArray(new Class<?>[0]));
      } catch (Throwable together) {
        for (Class<?> type : batch) {
          try {
            instrumentation.retransformClasses(type);
          } catch (Throwable alone) {
            if (canRefuse) {
              refused.add(type.getName());
              skip(type.getName(), "the JVM rejects the changed class: " + firstLine(alone));
            }
          }
        }
      }
    }
  }

  private static String firstLine(Throwable error) {
    return error.toString().lines().findFirst().orElse("");
  }

  @Override
  public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined,
      ProtectionDomain domain, byte[] bytes) {
    if (name == null) {
      return null;
    }
    boolean wasBusy = recorder.markBusy();
    try {
      return changed(loader, name.replace('/', '.'), bytes);
    } catch (Throwable e) {
      skip(name.replace('/', '.'), firstLine(e));
      return null;
    } finally {
      recorder.setBusy(wasBusy);
    }
  }

  private byte[] changed(ClassLoader loader, String name, byte[] bytes) {
    if (!matches(name, isOfJdk(loader)) || isNever(name) || refused.contains(name)) {
      return null;
    }
    Set<String> tooLong = new HashSet<>();
    while (true) {
      try {
        ClassReader reader = new ClassReader(bytes);
        Change change = change(new ClassWriter(reader, 0), name, isOfJdk(loader), tooLong);
        reader.accept(change, 0);
        if (!change.isChange) {
          return null;
        }
        byte[] result = change.writer.toByteArray();
        changed.add(name);
        return result;
      } catch (MethodTooLargeException e) {
        tooLong.add(e.getMethodName() + e.getDescriptor());
        skip(name + "." + e.getMethodName(), "too long to change: a method has at most 64 KB");
      }
    }
  }

  private static boolean isNever(String name) {
    for (String never : NEVER) {
      if (name.equals(never) || name.startsWith(never) && (never.endsWith(".") || name.charAt(never.length()) == '$')) {
        return true;
      }
    }
    return false;
  }

  final void skip(String what, String why) {
    if (skips.size() < SKIPS_MAX && skips.add(what + why)) {
      news.add(new News(-1, what + ": " + why));
    }
  }

  /** Returns a method's number in changed code; -1 if no numbers are left. */
  final int number(String method) {
    synchronized (numbers) {
      Integer known = numbers.get(method);
      if (known == null) {
        if (!Hook.hasNumber(numbers.size())) {
          return -1;
        }
        known = numbers.size();
        numbers.put(method, known);
        news.add(new News(known, method));
      }
      return known;
    }
  }

  /** Returns the first of two consecutive numbers; -1 if no numbers are left. */
  final int numbers(String first, String second) {
    synchronized (numbers) {
      int one = number(first);
      int two = number(second);
      return two < 0 ? -1 : one;
    }
  }

  public interface NewMethod {
    void accept(int number, String name);
  }

  public interface NewSkip {
    void accept(char kind, String text);
  }

  public void news(NewMethod method, NewSkip skip) {
    for (News each; (each = news.poll()) != null; ) {
      if (each.number < 0) {
        skip.accept('S', each.text);
      } else {
        method.accept(each.number, each.text);
      }
    }
  }

  /** The change of one class. */
  abstract static class Change extends ClassVisitor {
    final ClassWriter writer;
    boolean hasFrames;
    String internalName;
    String superName;
    boolean isChange;

    Change(ClassWriter writer) {
      super(Opcodes.ASM9, writer);
      this.writer = writer;
    }

    @Override
    public void visit(int version, int access, String internalName, String signature, String superName,
        String[] interfaces) {
      super.visit(version, access, internalName, signature, superName, interfaces);
      this.hasFrames = (version & 0xffff) >= V1_6;
      this.internalName = internalName;
      this.superName = superName;
    }
  }
}
