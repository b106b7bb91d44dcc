package org.yunti.web.velocity.compiler;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Reusable {@code $foreach} objects of a piece's inner loops: an array that the method of a piece creates and passes to
 * the methods of its parts. Its length is known after the parts are generated, so the code at the end of the method
 * creates it.
 */
final class SpareScopes {
  /** Variable of the array in methods that render, after the context and the writer. */
  static final int VARIABLE = 2;

  private final Label made = new Label();
  private final Label make = new Label();
  private int count;

  void begin(MethodVisitor code) {
    code.visitJumpInsn(Opcodes.GOTO, make);
    code.visitLabel(made);
  }

  void end(MethodVisitor code) {
    code.visitLabel(make);
    if (count == 0) {
      code.visitInsn(Opcodes.ACONST_NULL);
      code.visitTypeInsn(Opcodes.CHECKCAST, ClassGenerator.SCOPES);
    } else {
      code.visitLdcInsn(count);
      code.visitTypeInsn(Opcodes.ANEWARRAY, "org/apache/velocity/runtime/directive/ForeachScope");
    }
    code.visitVarInsn(Opcodes.ASTORE, VARIABLE);
    code.visitJumpInsn(Opcodes.GOTO, made);
  }

  /** Adds one scope and returns its index. */
  int add() {
    return count++;
  }
}
