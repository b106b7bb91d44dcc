package org.yunti.web.velocity.compiler;

import static org.yunti.web.velocity.compiler.ClassGenerator.RUNTIME;

import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;
import org.yunti.web.velocity.runtime.ReferenceSite;

/**
 * Exception handler that adds the name of the reference to the exception.
 *
 * @param root variable of the reference's first value
 */
record NamingHandler(Label handler, int root, ReferenceSite site) {
  void generate(BodyGenerator body) {
    body.code.visitLabel(handler);
    body.code.visitVarInsn(Opcodes.ALOAD, root);
    body.load(site);
    body.call(RUNTIME + "References", "named",
        "(Lorg/apache/velocity/exception/MethodInvocationException;Ljava/lang/Object;L" + RUNTIME
        + "ReferenceSite;)Lorg/apache/velocity/exception/MethodInvocationException;");
    body.code.visitInsn(Opcodes.ATHROW);
  }
}
