package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * Adds calls of the {@link Hook} to a method: at its begin, and at each of its ends.
 *
 * <pre>
 *   enter(number)                    in a constructor: after its call of another constructor
 *   try {
 *     .. exit(number); return ..
 *   } catch (any e) {
 *     thrown(e, number); throw e
 *   }
 * </pre>
 *
 * It adds no local variables, so the method's stack map frames stay valid. The handler's frame has no locals.
 */
final class MethodChange extends MethodVisitor {
  /** Stack slots that are added. */
  private static final int STACK = 8;

  private final int number;
  private final boolean withTexts;
  private final boolean hasFrames;
  private final boolean isStatic;
  private final Type descriptor;
  /** In a constructor: the class and its superclass, until one of their constructors is called; else null. */
  private String[] awaited;
  /** Objects that are allocated, but not constructed yet. */
  private int raw;
  private Label begin;

  MethodChange(MethodVisitor to, int number, boolean withTexts, boolean hasFrames, int access, String descriptor,
      String[] awaited) {
    super(ASM9, to);
    this.number = number;
    this.withTexts = withTexts;
    this.hasFrames = hasFrames;
    this.isStatic = (access & ACC_STATIC) != 0;
    this.descriptor = Type.getMethodType(descriptor);
    this.awaited = awaited;
  }

  @Override
  public void visitCode() {
    super.visitCode();
    if (awaited == null) {
      enter();
    }
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    super.visitTypeInsn(opcode, type);
    if (opcode == NEW) {
      raw++;
    }
  }

  @Override
  public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
    super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    if (awaited == null || opcode != INVOKESPECIAL || !name.equals("<init>")) {
      return;
    }
    if (raw > 0) {
      raw--;
    } else if (owner.equals(awaited[0]) || owner.equals(awaited[1])) {
      awaited = null;
      enter();
    }
  }

  private void enter() {
    if (withTexts) {
      arguments();
    }
    push(number);
    hook("enter", withTexts);
    begin = new Label();
    visitLabel(begin);
  }

  private void arguments() {
    Type[] types = descriptor.getArgumentTypes();
    push(types.length);
    super.visitTypeInsn(ANEWARRAY, "java/lang/Object");
    int local = isStatic ? 0 : 1;
    for (int i = 0; i < types.length; i++) {
      super.visitInsn(DUP);
      push(i);
      super.visitVarInsn(types[i].getOpcode(ILOAD), local);
      box(types[i]);
      super.visitInsn(AASTORE);
      local += types[i].getSize();
    }
  }

  @Override
  public void visitInsn(int opcode) {
    if (opcode >= IRETURN && opcode <= RETURN && begin != null) {
      Type type = descriptor.getReturnType();
      boolean hasValue = withTexts && opcode != RETURN;
      if (hasValue) {
        super.visitInsn(type.getSize() == 2 ? DUP2 : DUP);
        box(type);
      }
      push(number);
      hook("exit", hasValue);
    }
    super.visitInsn(opcode);
  }

  @Override
  public void visitMaxs(int maxStack, int maxLocals) {
    if (begin != null) {
      Label end = new Label();
      visitLabel(end);
      // The last handler, after the method's own ones.
      visitTryCatchBlock(begin, end, end, null);
      if (hasFrames) {
        visitFrame(F_FULL, 0, null, 1, new Object[] {"java/lang/Throwable"});
      }
      super.visitInsn(DUP);
      push(number);
      hook("thrown", true);
      super.visitInsn(ATHROW);
    }
    super.visitMaxs(maxStack + STACK, maxLocals);
  }

  private void hook(String name, boolean withObject) {
    super.visitMethodInsn(INVOKESTATIC, Hook.NAME, name, withObject ? Hook.WITH_OBJECT : Hook.PLAIN, false);
  }

  private void push(int value) {
    if (value >= Short.MIN_VALUE && value <= Short.MAX_VALUE) {
      super.visitIntInsn(SIPUSH, value);
    } else {
      super.visitLdcInsn(value);
    }
  }

  private void box(Type type) {
    String box = switch (type.getSort()) {
      case Type.BOOLEAN -> "java/lang/Boolean";
      case Type.CHAR -> "java/lang/Character";
      case Type.BYTE -> "java/lang/Byte";
      case Type.SHORT -> "java/lang/Short";
      case Type.INT -> "java/lang/Integer";
      case Type.LONG -> "java/lang/Long";
      case Type.FLOAT -> "java/lang/Float";
      case Type.DOUBLE -> "java/lang/Double";
      default -> null;
    };
    if (box != null) {
      super.visitMethodInsn(INVOKESTATIC, box, "valueOf", "(" + type.getDescriptor() + ")L" + box + ";", false);
    }
  }
}
