package org.yunti.web.velocity.compiler;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The {@code $foreach} objects of a piece's inner loops, which serve each time such a loop begins: an array that the method of a piece makes
 * and passes on to the methods of its parts. How long it is is known when they are generated, so that it is made at the method's end.
 */
final class SpareScopes {
  /** Where the array is in methods that render, behind the context and the writer. */
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

  /** One more; its index. */
  int add() {
    return count++;
  }
}
