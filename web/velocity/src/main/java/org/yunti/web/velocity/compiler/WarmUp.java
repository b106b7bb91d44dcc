package org.yunti.web.velocity.compiler;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTSetDirective;
import org.apache.velocity.runtime.parser.node.ASTStringLiteral;
import org.apache.velocity.runtime.parser.node.StandardParserTreeConstants;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.web.velocity.link.MethodLinking;
import org.yunti.web.velocity.link.MethodSite;
import org.yunti.web.velocity.link.PropertyLinking;
import org.yunti.web.velocity.link.PropertySite;
import org.yunti.web.velocity.output.StaticText;
import org.yunti.web.velocity.runtime.CodeLoader;
import org.yunti.web.velocity.runtime.IndexSite;
import org.yunti.web.velocity.runtime.LoopSite;
import org.yunti.web.velocity.runtime.ReferenceSite;
import org.yunti.web.velocity.tree.CompiledNode;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.HiddenField;
import org.yunti.web.velocity.tree.Internals;

/**
 * Warm-up of the compiler: loads its classes while the engine is initialised, once per process. This takes half of the
 * first template's compile time. It runs in its own thread; a template that comes earlier waits no longer than without
 * it.
 */
public final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
  private static final AtomicBoolean BEGUN = new AtomicBoolean();
  private static final List<Class<?>> CLASSES = List.of(TemplateCompiler.class, Piece.class, BodyGenerator.class,
      ValueGenerator.class, NamingHandler.class, ScopeUse.class, SpareScopes.class, Cost.class, Explanation.class,
      Internals.class, EngineFacts.class, CompiledNode.class, ReferenceSite.class, LoopSite.class, IndexSite.class,
      PropertySite.class, MethodSite.class, PropertyLinking.class, MethodLinking.class);

  private WarmUp() {}

  /** Starts the warm-up thread, once per process. */
  public static void begin() {
    if (BEGUN.compareAndSet(false, true)) {
      Thread thread = new Thread(WarmUp::run, "yunti-velocity-warm-up");
      thread.setDaemon(true);
      thread.setContextClassLoader(null); // does not hold the class loader of an application that stops
      thread.start();
    }
  }

  private static void run() {
    try {
      for (Class<?> each : CLASSES) {
        Class.forName(each.getName(), true, WarmUp.class.getClassLoader());
      }
      generate();
      if (Internals.MISSING == null) {
        readFields();
      }
    } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
      LOG.debug("the warm-up of the compiler failed", e); // the first template reports the fault
    }
  }

  /** Reads each hidden field once: the first read creates an accessor, since Java 18 a method handle; 15 ms for all. */
  private static void readFields() {
    ASTReference reference = new ASTReference(StandardParserTreeConstants.JJTREFERENCE);
    Internals.CHILDREN.set(reference, null);
    for (HiddenField<ASTReference, ?> field : List.of(Internals.REFERENCE_TYPE, Internals.NULL_STRING,
        Internals.ESCAPE_PREFIX, Internals.MORE_PREFIX, Internals.IS_ESCAPED, Internals.IS_COMPUTABLE,
        Internals.LOGS_NULL)) {
      field.of(reference);
    }
    ASTDirective directive = new ASTDirective(StandardParserTreeConstants.JJTDIRECTIVE);
    Internals.DIRECTIVE.of(directive);
    Internals.IS_DIRECTIVE.of(directive);
    Foreach loop = new Foreach();
    Internals.LOOPS_MAX.of(loop);
    Internals.SKIPS_INVALID.of(loop);
    Internals.ELEMENT_KEY.of(loop);
    Internals.SET_MORE_PREFIX.of(new ASTSetDirective(StandardParserTreeConstants.JJTSETDIRECTIVE));
    Internals.IF_MORE_PREFIX.of(new ASTIfStatement(StandardParserTreeConstants.JJTIFSTATEMENT));
    Internals.BLOCK_MORE_POSTFIX.of(new ASTBlock(StandardParserTreeConstants.JJTBLOCK));
    Internals.STRING_TREE.of(new ASTStringLiteral(StandardParserTreeConstants.JJTSTRINGLITERAL));
  }

  /** Generates a class with one instruction of each kind, which loads the classes of ASM and of hidden classes. */
  private static void generate() {
    ClassGenerator generator = new ClassGenerator("WarmUp");
    String method = generator.newMethodName("render");
    MethodVisitor code = generator.method(method, ClassGenerator.RENDER);
    code.visitCode();
    Label from = new Label();
    Label to = new Label();
    Label handler = new Label();
    Label end = new Label();
    code.visitVarInsn(Opcodes.ALOAD, 0);
    code.visitJumpInsn(Opcodes.IFNULL, end);
    code.visitLabel(from);
    generator.load(code, new StaticText(""), StaticText.class);
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Object", "hashCode", "()I", false);
    code.visitLdcInsn(1_000_000);
    code.visitJumpInsn(Opcodes.IF_ICMPLT, end);
    code.visitLabel(to);
    code.visitJumpInsn(Opcodes.GOTO, end);
    code.visitTryCatchBlock(from, to, handler, "java/lang/RuntimeException");
    code.visitLabel(handler);
    code.visitInsn(Opcodes.ATHROW);
    code.visitLabel(end);
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(0, 0);
    code.visitEnd();
    CodeLoader.load(generator.finish(List.of(method), Arrays.asList((String) null)), generator.constants());
  }
}
