package org.yunti.web.velocity.compiler;

import static org.yunti.web.velocity.compiler.ClassGenerator.CONTEXT;
import static org.yunti.web.velocity.compiler.ClassGenerator.RUNTIME;
import static org.yunti.web.velocity.compiler.ClassGenerator.TREE;
import static org.yunti.web.velocity.compiler.ClassGenerator.WRITER;

import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.runtime.RuntimeConstants.SpaceGobbling;
import org.apache.velocity.runtime.directive.BlockMacro;
import org.apache.velocity.runtime.directive.Break;
import org.apache.velocity.runtime.directive.Define;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.directive.Evaluate;
import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.directive.Include;
import org.apache.velocity.runtime.directive.Macro;
import org.apache.velocity.runtime.directive.Parse;
import org.apache.velocity.runtime.directive.RuntimeMacro;
import org.apache.velocity.runtime.directive.Stop;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTComment;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTElseStatement;
import org.apache.velocity.runtime.parser.node.ASTEscape;
import org.apache.velocity.runtime.parser.node.ASTEscapedDirective;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTSetDirective;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.ASTTextblock;
import org.apache.velocity.runtime.parser.node.ASTWord;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.yunti.web.velocity.output.StaticText;
import org.yunti.web.velocity.runtime.LoopSite;
import org.yunti.web.velocity.runtime.ReferenceSite;
import org.yunti.web.velocity.tree.CompiledMacro;
import org.yunti.web.velocity.tree.CompiledNode;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/**
 * Generator of one rendering method. It gathers static text and writes it before the next code with a visible effect.
 */
final class BodyGenerator {
  /**
   * Bytes of bytecode per method: the JIT stops inlining when a method and its inlined calls pass 8,000 bytes; a
   * reference has about 300 with its call site.
   */
  private static final int METHOD_BYTES = 600;

  final TemplateCompiler compiler;
  final EngineFacts engine;
  final ClassGenerator owner;
  final MethodVisitor code;
  /** Variable of the writer. */
  int out = 1;
  private final ValueGenerator values;
  private final List<NamingHandler> handlers = new ArrayList<>();
  private StringBuilder text = new StringBuilder();
  private int variables;
  private int size;
  private final SpareScopes spares;
  /** Depth of loops around the current code in this piece. */
  private int loops;
  /** Target of an unscoped #break; null if it must be thrown. */
  private Label breakTarget;

  /**
   * Creates the generator of one method.
   *
   * @param spares reusable scopes of the method's loops; null: none
   */
  BodyGenerator(TemplateCompiler compiler, ClassGenerator owner, MethodVisitor code, int parameters,
      SpareScopes spares) {
    this.compiler = compiler;
    this.owner = owner;
    this.code = code;
    this.spares = spares;
    engine = compiler.engine;
    variables = parameters;
    values = new ValueGenerator(this);
    code.visitCode();
  }

  /** Creates the generator of a method that renders a whole piece. */
  static BodyGenerator ofPiece(TemplateCompiler compiler, ClassGenerator owner, MethodVisitor code) {
    SpareScopes spares = new SpareScopes();
    BodyGenerator body = new BodyGenerator(compiler, owner, code, SpareScopes.VARIABLE + 1, spares);
    spares.begin(code);
    return body;
  }

  void finishPiece() {
    flush();
    code.visitInsn(Opcodes.RETURN);
    spares.end(code);
    finishHandlers();
  }

  void finish(int returns) {
    flush();
    code.visitInsn(returns);
    finishHandlers();
  }

  private void finishHandlers() {
    for (NamingHandler handler : handlers) {
      handler.generate(this);
    }
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  /** Adds an exception handler after the end of the method. */
  void atEnd(NamingHandler handler) {
    handlers.add(handler);
  }

  int newVariable() {
    return variables++;
  }

  int mark() {
    return variables;
  }

  /** Frees the variables created since {@code mark}. */
  void release(int mark) {
    variables = mark;
  }

  void loadContext() {
    code.visitVarInsn(Opcodes.ALOAD, 0);
  }

  void loadOut() {
    code.visitVarInsn(Opcodes.ALOAD, out);
  }

  void load(Object constant) {
    load(constant, constant.getClass());
  }

  void load(Object constant, Class<?> type) {
    owner.load(code, constant, type);
  }

  int forBootstrap(Object constant) {
    return owner.forBootstrap(constant);
  }

  void call(String type, String method, String descriptor) {
    code.visitMethodInsn(Opcodes.INVOKESTATIC, type, method, descriptor, false);
  }

  private void add(String more) {
    text.append(more);
  }

  /** Writes the gathered static text. */
  void flush() {
    if (!text.isEmpty()) {
      load(new StaticText(text.toString()));
      loadOut();
      call(RUNTIME + "References", "text", "(Lorg/yunti/web/velocity/output/StaticText;" + WRITER + ")V");
      text = new StringBuilder();
    }
  }

  void value(Node node) {
    values.value(node);
  }

  // ---- sequences ----

  /** Renders nodes in this method, or in several methods if they are too many for one. */
  void nodes(List<Node> all) {
    int sum = 0;
    for (Node node : all) {
      sum += compiler.cost.of(node);
    }
    if (size + sum <= METHOD_BYTES || all.size() == 1) {
      size += sum;
      for (Node node : all) {
        node(node);
      }
      return;
    }
    List<Node> group = new ArrayList<>();
    int groupSum = 0;
    for (Node node : all) {
      int cost = compiler.cost.of(node);
      if (!group.isEmpty() && groupSum + cost > METHOD_BYTES) {
        extract(group);
        group = new ArrayList<>();
        groupSum = 0;
      }
      group.add(node);
      groupSum += cost;
    }
    extract(group);
  }

  /** Renders nodes in a method of their own. */
  private void extract(List<Node> nodes) {
    flush();
    String method = owner.newMethodName("part");
    loadContext();
    loadOut();
    if (spares == null) {
      code.visitInsn(Opcodes.ACONST_NULL);
    } else {
      code.visitVarInsn(Opcodes.ALOAD, SpareScopes.VARIABLE);
    }
    code.visitMethodInsn(Opcodes.INVOKESTATIC, owner.name(), method, ClassGenerator.RENDER_PART, false);
    size += 8;
    BodyGenerator body = new BodyGenerator(compiler, owner, owner.method(method, ClassGenerator.RENDER_PART),
        SpareScopes.VARIABLE + 1, spares);
    body.loops = loops;
    body.nodes(nodes);
    body.finish(Opcodes.RETURN);
  }

  private static List<Node> childrenOf(Node node) {
    List<Node> children = new ArrayList<>(node.jjtGetNumChildren());
    for (int i = 0; i < node.jjtGetNumChildren(); i++) {
      children.add(node.jjtGetChild(i));
    }
    return children;
  }

  /** Renders the children of a block or similar node. */
  private void children(SimpleNode parent) {
    int cost = compiler.cost.of(parent);
    if (cost > TemplateCompiler.HUGE) {
      flush();
      for (CompiledNode standIn : compiler.render(parent)) {
        load(standIn);
        loadContext();
        loadOut();
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, TREE + "CompiledNode", "render", "(" + CONTEXT + WRITER + ")Z",
            false);
        code.visitInsn(Opcodes.POP);
      }
    } else if (size + cost > METHOD_BYTES) {
      extract(childrenOf(parent));
    } else {
      nodes(childrenOf(parent));
    }
  }

  // ---- nodes that render ----

  private void node(Node node) {
    if (node instanceof ASTText || node instanceof ASTTextblock || node instanceof ASTEscape
        || node instanceof ASTComment
        || node instanceof ASTEscapedDirective) {
      add(rendered(node));
    } else if (node.getClass() == ASTReference.class && compiler.cost.of(node) <= ValueGenerator.HUGE) {
      reference((ASTReference) node);
      return;
    } else if (node.getClass() == ASTSetDirective.class) {
      set((ASTSetDirective) node);
    } else if (node.getClass() == ASTIfStatement.class) {
      conditional((ASTIfStatement) node);
    } else if (node.getClass() == ASTDirective.class) {
      directive((ASTDirective) node);
      return;
    } else if (node.getClass() == ASTBlock.class) {
      block((ASTBlock) node);
      return;
    } else {
      interpret(node, node.getClass() == ASTReference.class ? Reasons.expressionTooLarge() : Reasons.unknownNode(node));
      return;
    }
    compiler.explanation.compiled();
  }

  /** Returns the output of a node that always writes the same. */
  private static String rendered(Node node) {
    StringWriter writer = new StringWriter();
    try {
      node.render(null, writer);
    } catch (IOException e) {
      throw new AssertionError(e); // a StringWriter throws no IOException
    }
    return writer.toString();
  }

  private void interpret(Node node, String reason) {
    compiler.explanation.interpreted(node, reason);
    flush();
    load(node, Node.class);
    loadContext();
    loadOut();
    code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "org/apache/velocity/runtime/parser/node/Node", "render",
        "(" + CONTEXT + WRITER + ")Z", true);
    code.visitInsn(Opcodes.POP);
  }

  private void reference(ASTReference node) {
    if (Internals.REFERENCE_TYPE.of(node) == ValueGenerator.RUNT) {
      add(node.literal());
      compiler.explanation.compiled();
      return;
    }
    flush();
    if (!Internals.IS_ESCAPED.of(node)) {
      values.write(node);
      return;
    }
    ReferenceSite site;
    if (node.strictEscape) {
      site = new ReferenceSite(engine, node, false);
      code.visitFieldInsn(Opcodes.GETSTATIC, "java/lang/Boolean", "TRUE", "Ljava/lang/Boolean;");
      compiler.explanation.compiled();
    } else {
      site = values.execute(node);
    }
    loadContext();
    loadOut();
    load(site);
    call(RUNTIME + "References", "writeEscaped", "(Ljava/lang/Object;" + CONTEXT + WRITER + "L" + RUNTIME
        + "ReferenceSite;)V");
  }

  /** Adds the text before a directive on its line. */
  private void before(String prefix, String morePrefix) {
    if (!morePrefix.isEmpty() || engine.gobbling.compareTo(SpaceGobbling.LINES) < 0) {
      add(prefix);
    }
    add(morePrefix);
  }

  /** Adds the text after a directive on its line. */
  private void behind(String postfix, String morePrefix) {
    if (!morePrefix.isEmpty() || engine.gobbling == SpaceGobbling.NONE) {
      add(postfix);
    }
  }

  private void set(ASTSetDirective node) {
    String morePrefix = Internals.SET_MORE_PREFIX.of(node);
    before(node.getPrefix(), morePrefix);
    flush();
    ASTReference left = (ASTReference) node.jjtGetChild(0);
    int mark = mark();
    value(node.jjtGetChild(1));
    int value = newVariable();
    code.visitVarInsn(Opcodes.ASTORE, value);
    behind(node.getPostfix(), morePrefix);
    flush();
    compiler.explanation.compiled();
    if (left.jjtGetNumChildren() == 0) {
      loadContext();
      code.visitLdcInsn(left.getRootString());
      code.visitVarInsn(Opcodes.ALOAD, value);
      call(RUNTIME + "Contexts", "put", "(" + CONTEXT + "Ljava/lang/String;Ljava/lang/Object;)V");
    } else {
      load(left);
      loadContext();
      code.visitVarInsn(Opcodes.ALOAD, value);
      code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "org/apache/velocity/runtime/parser/node/ASTReference", "setValue",
          "(" + CONTEXT + "Ljava/lang/Object;)Z", false);
      code.visitInsn(Opcodes.POP);
    }
    release(mark);
  }

  private void conditional(ASTIfStatement node) {
    String morePrefix = Internals.IF_MORE_PREFIX.of(node);
    before(node.getPrefix(), morePrefix);
    flush();
    Label end = new Label();
    Label next = new Label();
    values.jumpUnless(node.jjtGetChild(0), next);
    node(node.jjtGetChild(1));
    flush();
    code.visitJumpInsn(Opcodes.GOTO, end);
    for (int i = 2; i < node.jjtGetNumChildren(); i++) {
      code.visitLabel(next);
      next = new Label();
      Node branch = node.jjtGetChild(i);
      compiler.explanation.compiled();
      if (branch instanceof ASTElseStatement) {
        children((SimpleNode) branch);
        flush();
        code.visitJumpInsn(Opcodes.GOTO, end);
        break;
      }
      values.jumpUnless(branch.jjtGetChild(0), next);
      node(branch.jjtGetChild(1));
      flush();
      code.visitJumpInsn(Opcodes.GOTO, end);
    }
    code.visitLabel(next);
    code.visitLabel(end);
    behind(node.getPostfix(), morePrefix);
  }

  private void block(ASTBlock node) {
    if (engine.gobbling == SpaceGobbling.NONE) {
      add(node.getPrefix());
    }
    children(node);
    String morePostfix = Internals.BLOCK_MORE_POSTFIX.of(node);
    if (!morePostfix.isEmpty() || engine.gobbling.compareTo(SpaceGobbling.LINES) < 0) {
      add(node.getPostfix());
    }
    add(morePostfix);
    compiler.explanation.compiled();
  }

  // ---- directives ----

  private void directive(ASTDirective node) {
    if (!Internals.IS_DIRECTIVE.of(node)) {
      add(rendered(node));
      compiler.explanation.compiled();
      return;
    }
    Directive directive = Internals.DIRECTIVE.of(node);
    before(node.getPrefix(), node.getMorePrefix());
    Class<? extends Directive> type = directive.getClass();
    if (type == Foreach.class) {
      loop(node, (Foreach) directive);
      compiler.explanation.compiled();
    } else if (type == CompiledMacro.class) {
      // The macro was defined when the template was initialised; here it writes nothing.
      compiler.render((SimpleNode) node.jjtGetChild(node.jjtGetNumChildren() - 1));
      compiler.explanation.compiled();
    } else if (type == Break.class && node.jjtGetNumChildren() == 0 && breakTarget != null) {
      flush();
      code.visitJumpInsn(Opcodes.GOTO, breakTarget);
      compiler.explanation.compiled();
      // The code after it is unreachable, but a label keeps it valid.
      code.visitLabel(new Label());
    } else {
      callDirective(node, directive);
    }
    behind(node.getPostfix(), node.getMorePrefix());
  }

  /** Generates a call of the directive's own render method; its arguments and blocks are compiled. */
  private void callDirective(ASTDirective node, Directive directive) {
    flush();
    Class<? extends Directive> type = directive.getClass();
    boolean isStock = type == RuntimeMacro.class || type == BlockMacro.class || type == Parse.class
        || type == Include.class
        || type == Evaluate.class || type == Define.class || type == Break.class || type == Stop.class;
    if (isStock) {
      compiler.explanation.compiled();
    } else {
      compiler.explanation.interpreted(node, Reasons.directive(directive));
    }
    for (int i = 0; i < node.jjtGetNumChildren(); i++) {
      Node child = node.jjtGetChild(i);
      if (child instanceof ASTBlock block) {
        if (!(directive instanceof Macro)) {
          // Other threads may already render the body of a macro that is not a CompiledMacro.
          compiler.render(block);
        }
      } else if (child instanceof ASTWord) {
        // A word has no value; directives read its name.
        if (isStock) {
          compiler.explanation.compiled();
        }
      } else if (isStock && type != Define.class && !engine.keepsLiterals && !ValueGenerator.isConstant(child)) {
        compiler.compute(node, i);
      }
    }
    load(directive, Directive.class);
    loadContext();
    loadOut();
    load(node, Node.class);
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "org/apache/velocity/runtime/directive/Directive", "render",
        "(" + CONTEXT + WRITER + "Lorg/apache/velocity/runtime/parser/node/Node;)Z", false);
    code.visitInsn(Opcodes.POP);
  }

  private void loop(ASTDirective node, Foreach directive) {
    int n = node.jjtGetNumChildren();
    boolean hasElse = node.jjtGetChild(n - 2) instanceof ASTBlock;
    ASTBlock body = (ASTBlock) node.jjtGetChild(hasElse ? n - 2 : n - 1);
    LoopSite site = new LoopSite(engine, directive, node.jjtGetChild(2));
    String siteType = "L" + RUNTIME + "LoopSite;";
    String scopeType = "Lorg/apache/velocity/runtime/directive/ForeachScope;";
    flush();
    int mark = mark();
    int iterable = newVariable();
    int iterator = newVariable();
    int old = newVariable();
    int scope = newVariable();
    int count = newVariable();
    Label none = new Label();
    Label end = new Label();
    value(node.jjtGetChild(2));
    code.visitVarInsn(Opcodes.ASTORE, iterable);
    iterator(iterable, site);
    code.visitInsn(Opcodes.DUP);
    code.visitVarInsn(Opcodes.ASTORE, iterator);
    code.visitJumpInsn(Opcodes.IFNULL, none);
    hasNext(iterator);
    code.visitJumpInsn(Opcodes.IFEQ, none);
    loadContext();
    load(site);
    call(RUNTIME + "Loops", "old", "(" + CONTEXT + siteType + ")Ljava/lang/Object;");
    code.visitVarInsn(Opcodes.ASTORE, old);
    loadContext();
    load(site);
    if (spares != null && loops > 0 && site.hasScope && ScopeUse.endsWithLoop(body, site.scopeName)) {
      code.visitVarInsn(Opcodes.ALOAD, SpareScopes.VARIABLE);
      code.visitLdcInsn(spares.add());
      call(RUNTIME + "Loops", "scope", "(" + CONTEXT + siteType + ClassGenerator.SCOPES + "I)" + scopeType);
    } else {
      call(RUNTIME + "Loops", "scope", "(" + CONTEXT + siteType + ")" + scopeType);
    }
    code.visitVarInsn(Opcodes.ASTORE, scope);
    boolean isBounded = site.loopsMax != Integer.MAX_VALUE;
    if (isBounded) {
      code.visitInsn(Opcodes.ICONST_0);
      code.visitVarInsn(Opcodes.ISTORE, count);
    }
    Label again = new Label();
    Label done = new Label();
    code.visitLabel(again);
    if (isBounded) {
      code.visitVarInsn(Opcodes.ILOAD, count);
      code.visitLdcInsn(site.loopsMax);
      code.visitJumpInsn(Opcodes.IF_ICMPGE, done);
      code.visitIincInsn(count, 1);
    }
    hasNext(iterator);
    code.visitJumpInsn(Opcodes.IFEQ, done);
    code.visitVarInsn(Opcodes.ALOAD, iterator);
    code.visitVarInsn(Opcodes.ALOAD, scope);
    loadContext();
    load(site);
    call(RUNTIME + "Loops", "next", "(Ljava/util/Iterator;" + scopeType + CONTEXT + siteType + ")V");
    Label from = new Label();
    Label to = new Label();
    Label stopped = new Label();
    Label outerTarget = breakTarget;
    breakTarget = done;
    code.visitLabel(from);
    loops++;
    block(body);
    loops--;
    flush();
    code.visitInsn(Opcodes.NOP); // a region must not be empty
    code.visitLabel(to);
    breakTarget = outerTarget;
    code.visitJumpInsn(Opcodes.GOTO, again);
    code.visitTryCatchBlock(from, to, stopped, "org/apache/velocity/runtime/directive/StopCommand");
    code.visitLabel(stopped);
    loadContext();
    code.visitVarInsn(Opcodes.ALOAD, old);
    load(site);
    call(RUNTIME + "Loops", "stopped", "(Lorg/apache/velocity/runtime/directive/StopCommand;" + CONTEXT
        + "Ljava/lang/Object;" + siteType + ")V");
    code.visitLabel(done);
    loadContext();
    code.visitVarInsn(Opcodes.ALOAD, old);
    load(site);
    call(RUNTIME + "Loops", "clean", "(" + CONTEXT + "Ljava/lang/Object;" + siteType + ")V");
    code.visitVarInsn(Opcodes.ALOAD, iterator);
    code.visitVarInsn(Opcodes.ALOAD, iterable);
    call(RUNTIME + "Loops", "close", "(Ljava/util/Iterator;Ljava/lang/Object;)V");
    code.visitJumpInsn(Opcodes.GOTO, end);
    code.visitLabel(none);
    if (hasElse) {
      node(node.jjtGetChild(n - 1));
      flush();
    }
    code.visitLabel(end);
    release(mark);
  }

  /**
   * Leaves the iterator of a loop on the stack. The iterator of a list is made here, not in a call that all loops
   * share. If this loop only iterated over lists, the JIT knows its class and allocates no object.
   */
  private void iterator(int iterable, LoopSite site) {
    Label other = new Label();
    Label end = new Label();
    code.visitVarInsn(Opcodes.ALOAD, iterable);
    load(site);
    call(RUNTIME + "Loops", "isList", "(Ljava/lang/Object;L" + RUNTIME + "LoopSite;)Z");
    code.visitJumpInsn(Opcodes.IFEQ, other);
    code.visitVarInsn(Opcodes.ALOAD, iterable);
    code.visitTypeInsn(Opcodes.CHECKCAST, "java/util/ArrayList");
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/util/ArrayList", "iterator", "()Ljava/util/Iterator;", false);
    code.visitJumpInsn(Opcodes.GOTO, end);
    code.visitLabel(other);
    code.visitVarInsn(Opcodes.ALOAD, iterable);
    load(site);
    call(RUNTIME + "Loops", "iterator", "(Ljava/lang/Object;L" + RUNTIME + "LoopSite;)Ljava/util/Iterator;");
    code.visitLabel(end);
  }

  private void hasNext(int iterator) {
    code.visitVarInsn(Opcodes.ALOAD, iterator);
    code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "java/util/Iterator", "hasNext", "()Z", true);
  }

  /** Renders a tree into a string, which stays on the stack. */
  void interpolate(SimpleNode tree) {
    if (isSimple(tree)) {
      flush();
      into(tree);
      return;
    }
    // A jump out of a loop or a block must not find partial values on the stack.
    String method = owner.newMethodName("string");
    loadContext();
    code.visitMethodInsn(Opcodes.INVOKESTATIC, owner.name(), method, ClassGenerator.VALUE, false);
    BodyGenerator body = new BodyGenerator(compiler, owner, owner.method(method, ClassGenerator.VALUE), 1, null);
    body.into(tree);
    body.finish(Opcodes.ARETURN);
  }

  private static boolean isSimple(SimpleNode tree) {
    for (Node child : childrenOf(tree)) {
      if (!(child instanceof ASTText) && !(child instanceof ASTReference)) {
        return false;
      }
    }
    return true;
  }

  private void into(SimpleNode tree) {
    int mark = mark();
    int outer = out;
    Label outerTarget = breakTarget;
    breakTarget = null;
    out = newVariable();
    code.visitTypeInsn(Opcodes.NEW, "org/apache/velocity/util/StringBuilderWriter");
    code.visitInsn(Opcodes.DUP);
    code.visitMethodInsn(Opcodes.INVOKESPECIAL, "org/apache/velocity/util/StringBuilderWriter", "<init>", "()V", false);
    code.visitVarInsn(Opcodes.ASTORE, out);
    for (Node child : childrenOf(tree)) {
      node(child);
    }
    flush();
    loadOut();
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Object", "toString", "()Ljava/lang/String;", false);
    out = outer;
    breakTarget = outerTarget;
    release(mark);
  }
}
