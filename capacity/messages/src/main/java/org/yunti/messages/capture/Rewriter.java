package org.yunti.messages.capture;

import static org.objectweb.asm.Opcodes.*;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * Changes the methods of {@link Targets}, in classes that are loaded now or later, and changes them back at the end. A
 * changed method calls the {@link Hook} before each return. It has no new local variable and no new branch, so that its
 * stack map frames stay valid.
 */
final class Rewriter implements ClassFileTransformer {
  private final Instrumentation instrumentation;
  private final Set<String> changed = ConcurrentHashMap.newKeySet();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  Rewriter(Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
  }

  /** Changes the loaded classes, and returns how many. */
  int begin() {
    // Loads the classes needed, before a class of the target waits for them.
    Targets.isTarget("a.Class");
    instrumentation.addTransformer(this, true);
    List<Class<?>> matching = new ArrayList<>();
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (Targets.isTarget(type.getName()) && instrumentation.isModifiableClass(type)) {
        matching.add(type);
      }
    }
    for (Class<?> type : matching) {
      try {
        instrumentation.retransformClasses(type);
      } catch (Throwable e) {
        refused.add(type.getName() + ": " + e);
        changed.remove(type.getName());
      }
    }
    return matching.size() - refused.size();
  }

  /** Returns the classes that the JVM refuses to change, with its reason. */
  Set<String> refused() {
    return refused;
  }

  /**
   * Restores all changed methods.
   *
   * @param millis time for classes to load that are being loaded with changes
   */
  void end(long millis) throws InterruptedException {
    instrumentation.removeTransformer(this);
    Set<Class<?>> done = new HashSet<>();
    for (int i = 0; i < 2; i++) {
      for (Class<?> type : instrumentation.getAllLoadedClasses()) {
        if (changed.contains(type.getName()) && done.add(type)) {
          try {
            instrumentation.retransformClasses(type);
          } catch (Throwable e) {
            // The JVM is ending. A method that stays changed calls a hook without a consumer.
          }
        }
      }
      if (i == 0) {
        Thread.sleep(millis);
      }
    }
  }

  @Override
  public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined,
      ProtectionDomain domain, byte[] bytes) {
    String type = name == null ? "" : name.replace('/', '.');
    if (!Targets.isTarget(type)) {
      return null;
    }
    try {
      ClassReader reader = new ClassReader(bytes);
      Change change = new Change(new ClassWriter(reader, 0), type);
      reader.accept(change, 0);
      if (!change.isChange) {
        return null;
      }
      changed.add(type);
      return change.writer.toByteArray();
    } catch (Throwable e) {
      refused.add(type + ": " + e);
      return null;
    }
  }

  /** The change of one class. */
  private static final class Change extends ClassVisitor {
    final ClassWriter writer;
    private final String type;
    boolean isChange;

    Change(ClassWriter writer, String type) {
      super(ASM9, writer);
      this.writer = writer;
      this.type = type;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
        String[] exceptions) {
      MethodVisitor visitor = super.visitMethod(access, name, descriptor, signature, exceptions);
      int target = Targets.of(type, name);
      if (target < 0 || (access & (ACC_ABSTRACT | ACC_NATIVE | ACC_BRIDGE)) != 0) {
        return visitor;
      }
      boolean isWrite = Targets.ALL.get(target).isWrite();
      int argument = argument((access & ACC_STATIC) != 0, descriptor, isWrite);
      if (!isWrite && Type.getReturnType(descriptor).getSort() < Type.ARRAY) {
        return visitor;
      }
      isChange = true;
      return new MethodEnd(visitor, argument, target);
    }

    /** Returns the local variable of the object, or of the bytes that are read; -1 if there is none. */
    private static int argument(boolean isStatic, String descriptor, boolean isWrite) {
      int local = isStatic ? 0 : 1;
      for (Type type : Type.getArgumentTypes(descriptor)) {
        String name = type.getDescriptor();
        if (isWrite ? name.equals("Ljava/lang/Object;") : name.equals("[B") || name.equals("Ljava/lang/String;")) {
          return local;
        }
        local += type.getSize();
      }
      return isWrite && !isStatic ? 0 : -1;
    }
  }

  /** Adds the call before each return of a method. */
  private static final class MethodEnd extends MethodVisitor {
    private static final int STACK = 4;

    private final int argument;
    private final int target;

    MethodEnd(MethodVisitor to, int argument, int target) {
      super(ASM9, to);
      this.argument = argument;
      this.target = target;
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode >= IRETURN && opcode <= RETURN) {
        super.visitInsn(opcode == ARETURN ? DUP : ACONST_NULL);
        if (argument < 0) {
          super.visitInsn(ACONST_NULL);
        } else {
          super.visitVarInsn(ALOAD, argument);
        }
        super.visitIntInsn(SIPUSH, target);
        super.visitMethodInsn(INVOKESTATIC, Hook.NAME, "end", Hook.DESCRIPTOR, false);
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
      super.visitMaxs(maxStack + STACK, maxLocals);
    }
  }
}
