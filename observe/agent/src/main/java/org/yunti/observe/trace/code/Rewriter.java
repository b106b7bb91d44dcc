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
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.yunti.observe.trace.calls.Calls;

/** Changes the methods that are looked for, in classes that are there and in those that come, and changes them back at the end. */
public final class Rewriter implements ClassFileTransformer {
  /** Classes that are changed at once: all threads wait meanwhile. */
  private static final int BATCH = 50;
  private static final int CLASSES_MAX = 5_000;
  private static final int SKIPS_MAX = 200;
  private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
  /** What our own code calls before it can know that it has been called from itself. */
  private static final List<String> NEVER = List.of(
      "java.lang.Object", "java.lang.Thread", "java.lang.VirtualThread", "java.lang.BaseVirtualThread", "java.lang.YuntiTrace", "java.lang.ref.",
      "java.lang.invoke.", "java.util.concurrent.atomic.", "jdk.internal.", "sun.instrument.", "java.lang.instrument.");
  private static final Set<String> BOXES = Set.of("java.lang.Boolean", "java.lang.Character", "java.lang.Byte", "java.lang.Short", "java.lang.Integer",
      "java.lang.Long", "java.lang.Float", "java.lang.Double");

  private record News(int number, String text) {}

  private final Instrumentation instrumentation;
  private final Patterns patterns;
  private final Hook hook;
  private final Calls calls;
  private final boolean withTexts;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final Set<String> skips = ConcurrentHashMap.newKeySet();
  /** Methods with their numbers; below zero: what is not traced. */
  private final Queue<News> news = new ConcurrentLinkedQueue<>();
  private final Set<String> changed = ConcurrentHashMap.newKeySet();
  /** Classes that the JVM did not take as we changed them. */
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  public Rewriter(Instrumentation instrumentation, Patterns patterns, Hook hook, Calls calls, boolean withTexts) {
    this.instrumentation = instrumentation;
    this.patterns = patterns;
    this.hook = hook;
    this.calls = calls;
    this.withTexts = withTexts;
  }

  static boolean isOfJdk(ClassLoader loader) {
    return loader == null || loader == PLATFORM;
  }

  public void begin() {
    // So that what it needs is there before a class of the target waits for it.
    patterns.of("a.Class", false);
    instrumentation.addTransformer(this, true);
    List<Class<?>> fitting = new ArrayList<>();
    int hidden = 0;
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (type.isArray() || type.isPrimitive() || patterns.of(type.getName(), isOfJdk(type.getClassLoader())).isEmpty()) {
        continue;
      }
      if (type.isHidden()) {
        hidden++;
      } else if (isNever(type.getName())) {
        skip(type.getName(), "the trace itself needs it");
      } else if (!instrumentation.isModifiableClass(type)) {
        skip(type.getName(), "the JVM does not let it be changed");
      } else {
        fitting.add(type);
      }
    }
    if (hidden > 0) {
      skip(hidden + " hidden classes, such as those of lambdas", "they cannot be changed");
    }
    if (fitting.size() > CLASSES_MAX) {
      throw new IllegalArgumentException(fitting.size() + " classes fit, which are too many to be changed; name a package");
    }
    retransform(fitting, true);
  }

  /** @param millis until classes that are being loaded with our changes are there */
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
              skip(type.getName(), "the JVM does not take it changed: " + firstLine(alone));
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
  public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
    if (name == null) {
      return null;
    }
    boolean wasBusy = calls.hush();
    try {
      return changed(loader, name.replace('/', '.'), bytes);
    } catch (Throwable e) {
      skip(name.replace('/', '.'), firstLine(e));
      return null;
    } finally {
      calls.hush(wasBusy);
    }
  }

  private byte[] changed(ClassLoader loader, String name, byte[] bytes) {
    List<MethodPattern> fitting = patterns.of(name, isOfJdk(loader));
    if (fitting.isEmpty() || isNever(name) || refused.contains(name)) {
      return null;
    }
    Set<String> tooLong = new HashSet<>();
    while (true) {
      try {
        ClassReader reader = new ClassReader(bytes);
        Change change = new Change(new ClassWriter(reader, 0), name, fitting, tooLong);
        reader.accept(change, 0);
        if (!change.isChange) {
          return null;
        }
        byte[] result = change.writer.toByteArray();
        changed.add(name);
        return result;
      } catch (MethodTooLargeException e) {
        tooLong.add(e.getMethodName() + e.getDescriptor());
        skip(name + "." + e.getMethodName(), "too long to be changed: 64 KB are the most that a method may have");
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

  private void skip(String what, String why) {
    if (skips.size() < SKIPS_MAX && skips.add(what + why)) {
      news.add(new News(-1, what + ": " + why));
    }
  }

  /** The number of a method in changed code; -1: there are no numbers left. */
  private int number(String method) {
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

  /** One class on its way. */
  private final class Change extends ClassVisitor {
    final ClassWriter writer;
    private final String name;
    private final List<MethodPattern> fitting;
    private final Set<String> tooLong;
    private boolean hasFrames;
    private String[] constructors;
    boolean isChange;

    Change(ClassWriter writer, String name, List<MethodPattern> fitting, Set<String> tooLong) {
      super(Opcodes.ASM9, writer);
      this.writer = writer;
      this.name = name;
      this.fitting = fitting;
      this.tooLong = tooLong;
    }

    @Override
    public void visit(int version, int access, String internalName, String signature, String superName, String[] interfaces) {
      super.visit(version, access, internalName, signature, superName, interfaces);
      hasFrames = (version & 0xffff) >= V1_6;
      constructors = new String[] {internalName, superName};
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] exceptions) {
      MethodVisitor visitor = super.visitMethod(access, method, descriptor, signature, exceptions);
      boolean isSynthetic = (access & ACC_SYNTHETIC) != 0;
      boolean isWanted = false;
      boolean isNamed = false;
      for (MethodPattern pattern : fitting) {
        if (pattern.fitsMethod(method, isSynthetic)) {
          pattern.isMet = true;
          isWanted = true;
          isNamed |= pattern.methodName.equals(method);
        }
      }
      if (!isWanted || tooLong.contains(method + descriptor)) {
        return visitor;
      }
      String whole = name + "." + method;
      if ((access & ACC_ABSTRACT) != 0 && !isNamed) {
        return visitor;
      }
      String why = (access & ACC_NATIVE) != 0 ? "native" : (access & ACC_ABSTRACT) != 0 ? "abstract: name the classes that have it" : null;
      if (withTexts && method.equals("valueOf") && BOXES.contains(name)) {
        why = "the trace itself needs it for --args";
      }
      int number = why == null ? number(whole) : -1;
      if (number < 0) {
        skip(whole, why == null ? "there are too many methods" : why);
        return visitor;
      }
      isChange = true;
      return new MethodChange(visitor, hook.number(number), withTexts, hasFrames, access, descriptor, method.equals("<init>") ? constructors : null);
    }
  }
}
