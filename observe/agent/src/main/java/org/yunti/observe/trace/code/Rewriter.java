package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.lang.instrument.Instrumentation;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.yunti.observe.trace.calls.Calls;

/** Changes the methods that match patterns, so that they report their calls. */
public final class Rewriter extends ClassChanges {
  private static final Set<String> BOXES = Set.of("java.lang.Boolean", "java.lang.Character",
      "java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long", "java.lang.Float",
      "java.lang.Double");

  private final Patterns patterns;
  private final boolean withTexts;

  public Rewriter(Instrumentation instrumentation, Patterns patterns, Hook hook, Calls calls, boolean withTexts) {
    super(instrumentation, hook, calls);
    this.patterns = patterns;
    this.withTexts = withTexts;
  }

  @Override
  boolean matches(String name, boolean isOfJdk) {
    return !patterns.of(name, isOfJdk).isEmpty();
  }

  @Override
  Change change(ClassWriter writer, String name, boolean isOfJdk, Set<String> tooLong) {
    return new Methods(writer, name, patterns.of(name, isOfJdk), tooLong);
  }

  /** The change of one class. */
  private final class Methods extends Change {
    private final String name;
    private final List<MethodPattern> matching;
    private final Set<String> tooLong;

    Methods(ClassWriter writer, String name, List<MethodPattern> matching, Set<String> tooLong) {
      super(writer);
      this.name = name;
      this.matching = matching;
      this.tooLong = tooLong;
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
        String[] exceptions) {
      MethodVisitor visitor = super.visitMethod(access, method, descriptor, signature, exceptions);
      boolean isSynthetic = (access & ACC_SYNTHETIC) != 0;
      boolean isWanted = false;
      boolean isNamed = false;
      for (MethodPattern pattern : matching) {
        if (pattern.matchesMethod(method, isSynthetic)) {
          pattern.isMatched = true;
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
      String why = (access & ACC_NATIVE) != 0 ? "native"
          : (access & ACC_ABSTRACT) != 0 ? "abstract: name the implementing classes" : null;
      if (withTexts && method.equals("valueOf") && BOXES.contains(name)) {
        why = "the trace itself needs it for --args";
      }
      int number = why == null ? number(whole) : -1;
      if (number < 0) {
        skip(whole, why == null ? "too many methods" : why);
        return visitor;
      }
      isChange = true;
      return new MethodChange(visitor, hook.number(number), withTexts, hasFrames, access, descriptor,
          method.equals("<init>") ? new String[] {internalName, superName} : null);
    }
  }
}
