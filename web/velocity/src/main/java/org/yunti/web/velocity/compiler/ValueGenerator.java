package org.yunti.web.velocity.compiler;

import static org.yunti.web.velocity.compiler.ClassGenerator.CONTEXT;
import static org.yunti.web.velocity.compiler.ClassGenerator.LINK;
import static org.yunti.web.velocity.compiler.ClassGenerator.RUNTIME;
import static org.yunti.web.velocity.compiler.ClassGenerator.TREE;
import static org.yunti.web.velocity.compiler.ClassGenerator.WRITER;

import java.util.Map;
import java.util.Set;
import org.apache.velocity.runtime.parser.node.ASTAddNode;
import org.apache.velocity.runtime.parser.node.ASTAndNode;
import org.apache.velocity.runtime.parser.node.ASTComparisonNode;
import org.apache.velocity.runtime.parser.node.ASTDivNode;
import org.apache.velocity.runtime.parser.node.ASTEQNode;
import org.apache.velocity.runtime.parser.node.ASTExpression;
import org.apache.velocity.runtime.parser.node.ASTFalse;
import org.apache.velocity.runtime.parser.node.ASTFloatingPointLiteral;
import org.apache.velocity.runtime.parser.node.ASTGENode;
import org.apache.velocity.runtime.parser.node.ASTGTNode;
import org.apache.velocity.runtime.parser.node.ASTIdentifier;
import org.apache.velocity.runtime.parser.node.ASTIndex;
import org.apache.velocity.runtime.parser.node.ASTIntegerLiteral;
import org.apache.velocity.runtime.parser.node.ASTIntegerRange;
import org.apache.velocity.runtime.parser.node.ASTLENode;
import org.apache.velocity.runtime.parser.node.ASTLTNode;
import org.apache.velocity.runtime.parser.node.ASTMap;
import org.apache.velocity.runtime.parser.node.ASTMathNode;
import org.apache.velocity.runtime.parser.node.ASTMethod;
import org.apache.velocity.runtime.parser.node.ASTModNode;
import org.apache.velocity.runtime.parser.node.ASTMulNode;
import org.apache.velocity.runtime.parser.node.ASTNENode;
import org.apache.velocity.runtime.parser.node.ASTNegateNode;
import org.apache.velocity.runtime.parser.node.ASTNotNode;
import org.apache.velocity.runtime.parser.node.ASTObjectArray;
import org.apache.velocity.runtime.parser.node.ASTOrNode;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTStringLiteral;
import org.apache.velocity.runtime.parser.node.ASTSubtractNode;
import org.apache.velocity.runtime.parser.node.ASTTrue;
import org.apache.velocity.runtime.parser.node.Node;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.yunti.web.velocity.link.MethodSite;
import org.yunti.web.velocity.link.PropertySite;
import org.yunti.web.velocity.runtime.IndexSite;
import org.yunti.web.velocity.runtime.ReferenceSite;
import org.yunti.web.velocity.tree.Internals;

/** Generator of the computing part of a method: it leaves values on the stack and turns conditions into jumps. */
final class ValueGenerator {
  /** Reference type of plain text that is no reference. */
  static final int RUNT = 4;

  private static final Set<Class<?>> COMPARISONS = Set.of(ASTEQNode.class, ASTNENode.class, ASTLTNode.class,
      ASTLENode.class, ASTGTNode.class, ASTGENode.class);
  private static final Map<Class<?>, String> MATH = Map.of(ASTAddNode.class, "add", ASTSubtractNode.class, "subtract",
      ASTMulNode.class, "multiply", ASTDivNode.class, "divide", ASTModNode.class, "modulo");
  /** Arguments per call: a method handle has at most 255 parameters, its site's own included. */
  static final int ARGUMENTS_MAX = 200;
  /** Bytes of bytecode above which the interpreter evaluates an expression: a method holds 65,535 bytes. */
  static final int HUGE = 30_000;
  private static final Handle METHOD = bootstrap("MethodLinking", "link");
  private static final Handle WRITE_METHOD = bootstrap("MethodLinking", "linkWriting");
  private static final Handle PROPERTY = bootstrap("PropertyLinking", "link");
  private static final Handle WRITE_PROPERTY = bootstrap("PropertyLinking", "linkWriting");
  private static final Handle TEST_PROPERTY = bootstrap("PropertyLinking", "linkTesting");
  private static final String NODE = "org/apache/velocity/runtime/parser/node/";

  private final BodyGenerator body;
  private final MethodVisitor code;
  /** Depth of references around the current one. */
  private int nesting;

  ValueGenerator(BodyGenerator body) {
    this.body = body;
    code = body.code;
  }

  /** Returns true if a node's value is always the same object. */
  static boolean isConstant(Node node) {
    return node instanceof ASTIntegerLiteral || node instanceof ASTFloatingPointLiteral || node instanceof ASTTrue
        || node instanceof ASTFalse
        || node instanceof ASTStringLiteral string && string.isConstant();
  }

  private void compiled() {
    body.compiler.explanation.compiled();
  }

  // ---- values ----

  void value(Node node) {
    Class<?> type = node.getClass();
    if (isConstant(node)) {
      body.load(node.value(null));
    } else if (body.compiler.cost.of(node) > HUGE) {
      interpret(node, Reasons.expressionTooLarge());
      return;
    } else if (type == ASTReference.class) {
      ASTReference reference = (ASTReference) node;
      if (Internals.IS_COMPUTABLE.of(reference) && Internals.REFERENCE_TYPE.of(reference) != RUNT) {
        execute(reference);
        return;
      }
      code.visitInsn(Opcodes.ACONST_NULL);
    } else if (type == ASTExpression.class) {
      value(node.jjtGetChild(0));
    } else if (type == ASTStringLiteral.class) {
      body.interpolate(Internals.STRING_TREE.of((ASTStringLiteral) node));
    } else if (MATH.containsKey(type)) {
      math((ASTMathNode) node);
    } else if (COMPARISONS.contains(type) || type == ASTAndNode.class || type == ASTOrNode.class
        || type == ASTNotNode.class) {
      box(node);
      return;
    } else if (type == ASTNegateNode.class) {
      value(node.jjtGetChild(0));
      body.load(node);
      body.call(RUNTIME + "Operators", "negate", "(Ljava/lang/Object;L" + NODE + "ASTNegateNode;)Ljava/lang/Object;");
    } else if (type == ASTIntegerRange.class) {
      value(node.jjtGetChild(0));
      value(node.jjtGetChild(1));
      body.load(node);
      body.call(RUNTIME + "Operators", "range", "(Ljava/lang/Object;Ljava/lang/Object;L" + NODE
          + "ASTIntegerRange;)Ljava/lang/Object;");
    } else if (type == ASTObjectArray.class) {
      list(node);
    } else if (type == ASTMap.class) {
      map(node);
    } else {
      interpret(node, Reasons.unknownNode(node));
      return;
    }
    compiled();
  }

  private void interpret(Node node, String reason) {
    body.compiler.explanation.interpreted(node, reason);
    body.load(node, Node.class);
    body.loadContext();
    code.visitMethodInsn(Opcodes.INVOKEINTERFACE, NODE + "Node", "value", "(" + CONTEXT + ")Ljava/lang/Object;", true);
  }

  private void math(ASTMathNode node) {
    value(node.jjtGetChild(0));
    value(node.jjtGetChild(1));
    body.load(node, ASTMathNode.class);
    body.loadContext();
    body.call(RUNTIME + "Operators", MATH.get(node.getClass()),
        "(Ljava/lang/Object;Ljava/lang/Object;L" + NODE + "ASTMathNode;" + CONTEXT + ")Ljava/lang/Object;");
  }

  private void box(Node node) {
    Label isFalse = new Label();
    Label end = new Label();
    jumpUnless(node, isFalse);
    code.visitFieldInsn(Opcodes.GETSTATIC, "java/lang/Boolean", "TRUE", "Ljava/lang/Boolean;");
    code.visitJumpInsn(Opcodes.GOTO, end);
    code.visitLabel(isFalse);
    code.visitFieldInsn(Opcodes.GETSTATIC, "java/lang/Boolean", "FALSE", "Ljava/lang/Boolean;");
    code.visitLabel(end);
  }

  private void list(Node node) {
    int n = node.jjtGetNumChildren();
    code.visitTypeInsn(Opcodes.NEW, "java/util/ArrayList");
    code.visitInsn(Opcodes.DUP);
    code.visitLdcInsn(n);
    code.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/util/ArrayList", "<init>", "(I)V", false);
    for (int i = 0; i < n; i++) {
      code.visitInsn(Opcodes.DUP);
      value(node.jjtGetChild(i));
      code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/util/ArrayList", "add", "(Ljava/lang/Object;)Z", false);
      code.visitInsn(Opcodes.POP);
    }
  }

  private void map(Node node) {
    code.visitTypeInsn(Opcodes.NEW, "java/util/LinkedHashMap");
    code.visitInsn(Opcodes.DUP);
    code.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/util/LinkedHashMap", "<init>", "()V", false);
    for (int i = 0; i < node.jjtGetNumChildren(); i += 2) {
      code.visitInsn(Opcodes.DUP);
      value(node.jjtGetChild(i));
      value(node.jjtGetChild(i + 1));
      code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/util/LinkedHashMap", "put",
          "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;", false);
      code.visitInsn(Opcodes.POP);
    }
  }

  // ---- references ----

  /** Leaves the value of a reference on the stack. */
  ReferenceSite execute(ASTReference node) {
    return execute(node, null);
  }

  /** Writes the value of a reference. */
  void write(ASTReference node) {
    int n = node.jjtGetNumChildren();
    Node last = n == 0 ? null : node.jjtGetChild(n - 1);
    boolean isCall = last != null && (last.getClass() == ASTIdentifier.class || last.getClass() == ASTMethod.class
        && hasPlainArguments(last));
    if (node.strictRef || !isCall) {
      writeValue(execute(node));
      return;
    }
    Label none = new Label();
    Label end = new Label();
    ReferenceSite site = execute(node, none);
    call(last, isProperty(last) ? WRITE_PROPERTY : WRITE_METHOD, site);
    code.visitJumpInsn(Opcodes.GOTO, end);
    code.visitLabel(none);
    code.visitInsn(Opcodes.ACONST_NULL);
    writeValue(site);
    code.visitLabel(end);
  }

  /** Returns true if no argument can throw an exception that needs the name of its reference. */
  private static boolean hasPlainArguments(Node method) {
    if (method.jjtGetNumChildren() > ARGUMENTS_MAX) {
      return false;
    }
    for (int i = 1; i < method.jjtGetNumChildren(); i++) {
      Node argument = method.jjtGetChild(i);
      while (argument.getClass() == ASTExpression.class) {
        argument = argument.jjtGetChild(0);
      }
      boolean isVariable = argument instanceof ASTReference reference && reference.jjtGetNumChildren() == 0
          && !reference.strictRef;
      if (!isVariable && !isConstant(argument)) {
        return false;
      }
    }
    return true;
  }

  private void writeValue(ReferenceSite site) {
    body.loadContext();
    body.loadOut();
    body.load(site);
    body.call(RUNTIME + "References", "write", "(Ljava/lang/Object;" + CONTEXT + WRITER + "L" + RUNTIME
        + "ReferenceSite;)V");
  }

  /**
   * Evaluates a reference.
   *
   * @param none null: the value of the whole is left on the stack; else the receiver of the last part, and a jump to
   *     {@code none} with an unchanged stack if there is no receiver
   */
  private ReferenceSite execute(ASTReference node, Label none) {
    int n = node.jjtGetNumChildren();
    Node alternative = n > 0 && node.jjtGetChild(n - 1) instanceof ASTExpression last ? last : null;
    if (alternative != null) {
      n--;
    }
    ReferenceSite site = new ReferenceSite(body.engine, node, n > 0);
    boolean isStrict = node.strictRef;
    body.loadContext();
    body.load(site);
    body.call(RUNTIME + "References", isStrict ? "strictRoot" : "root", "(" + CONTEXT + "L" + RUNTIME
        + "ReferenceSite;)Ljava/lang/Object;");
    compiled();
    if (none != null && n == 1) {
      code.visitInsn(Opcodes.DUP);
      Label present = new Label();
      code.visitJumpInsn(Opcodes.IFNONNULL, present);
      code.visitInsn(Opcodes.POP);
      code.visitJumpInsn(Opcodes.GOTO, none);
      code.visitLabel(present);
      return site;
    }
    int parts = none == null ? n : n - 1;
    if (n == 0 && alternative == null) {
      if (isStrict) {
        strictResult(site);
      }
      return site;
    }
    int mark = body.mark();
    int root = body.newVariable();
    int current = body.newVariable();
    Label end = new Label();
    Label from = new Label();
    Label to = new Label();
    code.visitInsn(Opcodes.DUP);
    code.visitVarInsn(Opcodes.ASTORE, root);
    code.visitVarInsn(Opcodes.ASTORE, current);
    code.visitLabel(from);
    nesting++;
    for (int i = 0; i < parts; i++) {
      code.visitVarInsn(Opcodes.ALOAD, current);
      if (isStrict) {
        Label present = new Label();
        code.visitJumpInsn(Opcodes.IFNONNULL, present);
        body.load(site);
        body.load(node.jjtGetChild(i), Node.class);
        body.call(RUNTIME + "References", "nullInChain",
            "(L" + RUNTIME + "ReferenceSite;L" + NODE + "Node;)Lorg/apache/velocity/exception/VelocityException;");
        code.visitInsn(Opcodes.ATHROW);
        code.visitLabel(present);
      } else {
        code.visitJumpInsn(Opcodes.IFNULL, end);
      }
      code.visitVarInsn(Opcodes.ALOAD, current);
      child(node.jjtGetChild(i));
      code.visitVarInsn(Opcodes.ASTORE, current);
    }
    code.visitLabel(end);
    if (none == null) {
      code.visitVarInsn(Opcodes.ALOAD, current);
    }
    if (isStrict) {
      strictResult(site);
    }
    if (alternative != null) {
      Label present = new Label();
      code.visitInsn(Opcodes.DUP);
      body.call(RUNTIME + "References", "isPresent", "(Ljava/lang/Object;)Z");
      code.visitJumpInsn(Opcodes.IFNE, present);
      code.visitInsn(Opcodes.POP);
      value(alternative);
      code.visitLabel(present);
    }
    nesting--;
    code.visitLabel(to);
    namesReference(site, root, from, to);
    if (none != null) {
      code.visitVarInsn(Opcodes.ALOAD, current);
      code.visitJumpInsn(Opcodes.IFNULL, none);
      code.visitVarInsn(Opcodes.ALOAD, current);
    }
    body.release(mark);
    return site;
  }

  private void strictResult(ReferenceSite site) {
    body.loadContext();
    body.load(site);
    body.call(RUNTIME + "References", "strictResult", "(Ljava/lang/Object;" + CONTEXT + "L" + RUNTIME
        + "ReferenceSite;)Ljava/lang/Object;");
  }

  /**
   * Adds the name of a reference to exceptions that come out of it. The handler of a nested reference is generated in
   * place, so the outer handler has the last word.
   */
  private void namesReference(ReferenceSite site, int root, Label from, Label to) {
    Label handler = new Label();
    code.visitTryCatchBlock(from, to, handler, "org/apache/velocity/exception/MethodInvocationException");
    NamingHandler handle = new NamingHandler(handler, root, site);
    if (nesting == 0) {
      body.atEnd(handle);
    } else {
      Label behind = new Label();
      code.visitJumpInsn(Opcodes.GOTO, behind);
      handle.generate(body);
      code.visitLabel(behind);
    }
  }

  /** Evaluates a property, method or index; its receiver is on the stack. */
  private void child(Node node) {
    if (node.getClass() == ASTIdentifier.class || node.getClass() == ASTMethod.class
        && node.jjtGetNumChildren() <= ARGUMENTS_MAX) {
      call(node, isProperty(node) ? PROPERTY : METHOD, null);
      return;
    }
    if (node.getClass() == ASTIndex.class) {
      value(node.jjtGetChild(0));
      body.loadContext();
      body.load(new IndexSite(body.engine, (ASTIndex) node));
      body.call(RUNTIME + "Indexes", "get", "(Ljava/lang/Object;Ljava/lang/Object;" + CONTEXT + "L" + RUNTIME
          + "IndexSite;)Ljava/lang/Object;");
    } else {
      body.compiler.explanation.interpreted(node, node.getClass() == ASTMethod.class ? Reasons.tooManyArguments(node)
          : Reasons.unknownNode(node));
      body.load(node, Node.class);
      code.visitInsn(Opcodes.SWAP);
      body.loadContext();
      code.visitMethodInsn(Opcodes.INVOKEINTERFACE, NODE + "Node", "execute", "(Ljava/lang/Object;" + CONTEXT
          + ")Ljava/lang/Object;", true);
      return;
    }
    compiled();
  }

  private static boolean isProperty(Node node) {
    return node.getClass() == ASTIdentifier.class;
  }

  /**
   * Calls a property or a method, and leaves, writes or tests its value.
   *
   * @param bootstrap which of the three
   * @param reference null: the value is left on the stack
   */
  private void call(Node node, Handle bootstrap, ReferenceSite reference) {
    boolean isMethod = !isProperty(node);
    StringBuilder descriptor = new StringBuilder("(Ljava/lang/Object;");
    for (int i = 1; isMethod && i < node.jjtGetNumChildren(); i++) {
      value(node.jjtGetChild(i));
      descriptor.append("Ljava/lang/Object;");
    }
    body.loadContext();
    descriptor.append(CONTEXT);
    boolean isTested = bootstrap == TEST_PROPERTY;
    if (reference != null) {
      if (!isTested) {
        body.loadOut();
        descriptor.append(WRITER);
      }
      body.load(reference);
      descriptor.append("L" + RUNTIME + "ReferenceSite;");
    }
    descriptor.append(isTested ? ")Z" : reference != null ? ")V" : ")Ljava/lang/Object;");
    Object site = isMethod ? new MethodSite(body.engine, (ASTMethod) node)
        : new PropertySite(body.engine, (ASTIdentifier) node);
    code.visitInvokeDynamicInsn(isMethod ? "method" : "property", descriptor.toString(), bootstrap,
        body.forBootstrap(site));
    compiled();
  }

  private static Handle bootstrap(String linking, String method) {
    return new Handle(Opcodes.H_INVOKESTATIC, LINK + linking, method,
        "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;I)"
            + "Ljava/lang/invoke/CallSite;", false);
  }

  // ---- conditions ----

  void jumpUnless(Node node, Label target) {
    jump(node, false, target);
  }

  /** Jumps if the condition of a node equals {@code when}. */
  private void jump(Node node, boolean when, Label target) {
    Class<?> type = node.getClass();
    if (type == ASTExpression.class) {
      jump(node.jjtGetChild(0), when, target);
    } else if (type == ASTNotNode.class) {
      jump(node.jjtGetChild(0), !when, target);
    } else if (type == ASTAndNode.class || type == ASTOrNode.class) {
      boolean decides = type == ASTOrNode.class;
      if (when == decides) {
        jump(node.jjtGetChild(0), when, target);
        jump(node.jjtGetChild(1), when, target);
      } else {
        Label decided = new Label();
        jump(node.jjtGetChild(0), decides, decided);
        jump(node.jjtGetChild(1), when, target);
        code.visitLabel(decided);
      }
    } else if (COMPARISONS.contains(type)) {
      value(node.jjtGetChild(0));
      value(node.jjtGetChild(1));
      body.load(node, ASTComparisonNode.class);
      body.call(RUNTIME + "Operators", "compare", "(Ljava/lang/Object;Ljava/lang/Object;L" + NODE
          + "ASTComparisonNode;)Z");
      code.visitJumpInsn(when == (type != ASTNENode.class) ? Opcodes.IFNE : Opcodes.IFEQ, target);
    } else if (type == ASTReference.class) {
      referenceJump((ASTReference) node, when, target);
      return;
    } else if (type == ASTStringLiteral.class && !isConstant(node)) {
      value(node);
      code.visitTypeInsn(Opcodes.CHECKCAST, "java/lang/String");
      body.load(body.engine);
      body.call(RUNTIME + "Operators", "isTrue", "(Ljava/lang/String;L" + TREE + "EngineFacts;)Z");
      code.visitJumpInsn(when ? Opcodes.IFNE : Opcodes.IFEQ, target);
      return;
    } else {
      // The truth of a literal is cheap, and Velocity reads the properties for it each time.
      body.load(node, Node.class);
      body.loadContext();
      code.visitMethodInsn(Opcodes.INVOKEINTERFACE, NODE + "Node", "evaluate", "(" + CONTEXT + ")Z", true);
      code.visitJumpInsn(when ? Opcodes.IFNE : Opcodes.IFEQ, target);
    }
    compiled();
  }

  private void referenceJump(ASTReference node, boolean when, Label target) {
    if (Internals.REFERENCE_TYPE.of(node) == RUNT) {
      compiled();
      if (!when) {
        code.visitJumpInsn(Opcodes.GOTO, target);
      }
      return;
    }
    int n = node.jjtGetNumChildren();
    if (n > 0 && isProperty(node.jjtGetChild(n - 1)) && !node.strictRef) {
      propertyJump(node, when, target);
      return;
    }
    ReferenceSite site = execute(node);
    body.load(site);
    body.call(RUNTIME + "References", "isTrue", "(Ljava/lang/Object;L" + RUNTIME + "ReferenceSite;)Z");
    code.visitJumpInsn(when ? Opcodes.IFNE : Opcodes.IFEQ, target);
  }
  /** Tests {@code #if($item.sold)}: a getter's boolean never becomes an object. */
  private void propertyJump(ASTReference node, boolean when, Label target) {
    Label none = new Label();
    Label end = new Label();
    ReferenceSite site = execute(node, none);
    call(node.jjtGetChild(node.jjtGetNumChildren() - 1), TEST_PROPERTY, site);
    code.visitJumpInsn(when ? Opcodes.IFNE : Opcodes.IFEQ, target);
    code.visitJumpInsn(Opcodes.GOTO, end);
    code.visitLabel(none);
    if (!when) {
      code.visitJumpInsn(Opcodes.GOTO, target);
    }
    code.visitLabel(end);
  }
}
