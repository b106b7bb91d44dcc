package org.yunti.web.velocity.compiler;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.velocity.Template;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.objectweb.asm.ClassTooLargeException;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.yunti.web.velocity.runtime.CodeLoader;
import org.yunti.web.velocity.tree.CompiledCode;
import org.yunti.web.velocity.tree.CompiledNode;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/**
 * Compiler of a template that Velocity has parsed and initialised. The syntax tree stays; {@link CompiledNode}s in it
 * lead from the interpreter into generated code:
 *
 * <pre>
 *   template -> root -> CompiledNode 0 ..> hidden class: render(0)
 *                                            text, references, #if, #foreach, #set as bytecode
 *                                            #parse, a macro's call, a custom directive: calls the directive,
 *                                               whose blocks and arguments are CompiledNodes again
 * </pre>
 */
public final class TemplateCompiler {
  /**
   * Bytes of bytecode of a node's children above which they become entry points of their own: one class holds no more.
   */
  static final int HUGE = 60_000;
  /** Constants above which a class receives no further piece. */
  private static final int CONSTANTS_ENOUGH = 2_000;

  final EngineFacts engine;
  final Explanation explanation = new Explanation();
  final Cost cost = new Cost();
  private final Template template;
  private final Map<SimpleNode, List<Piece>> pieces = new LinkedHashMap<>();
  private final Deque<Piece> todo = new ArrayDeque<>();

  /** Class under construction, with its pieces. */
  private static final class GeneratedClass {
    final ClassGenerator generator;
    private final List<Piece> pieces = new ArrayList<>();
    private final List<String> renders = new ArrayList<>();
    private final List<String> computes = new ArrayList<>();

    GeneratedClass(ClassGenerator generator) {
      this.generator = generator;
    }

    void add(Piece piece, String method) {
      pieces.add(piece);
      renders.add(piece.renders() ? method : null);
      computes.add(piece.renders() ? null : method);
    }

    void load(Explanation explanation) {
      byte[] bytecode = generator.finish(renders, computes);
      explanation.bytecode(bytecode.length);
      CompiledCode code = CodeLoader.load(bytecode, generator.constants());
      for (int i = 0; i < pieces.size(); i++) {
        pieces.get(i).standIn().bind(code, i);
      }
    }
  }

  private TemplateCompiler(Template template, RuntimeServices services) {
    this.template = template;
    engine = new EngineFacts(services);
  }

  /**
   * Puts compiled code into the tree of a template.
   *
   * @return the explanation; if nothing can be compiled, the tree is unchanged and the explanation has the reason
   */
  public static Explanation compile(Template template, SimpleNode root, RuntimeServices services) {
    if (Internals.MISSING != null) {
      return interpreted(root, "this version of Velocity is not known: " + Internals.MISSING);
    }
    TemplateCompiler compiler = new TemplateCompiler(template, services);
    if (compiler.engine.tracksLocation) {
      return interpreted(root, "runtime.log.track_location is on: the interpreter keeps the stack of locations");
    }
    try {
      compiler.run(root);
      return compiler.explanation;
    } catch (TooLargeException | MethodTooLargeException | ClassTooLargeException e) {
      return interpreted(root, "too large for one class: " + e.getMessage());
    }
  }

  private static Explanation interpreted(SimpleNode root, String reason) {
    Explanation explanation = new Explanation();
    explanation.whole(root, reason);
    return explanation;
  }

  private void run(SimpleNode root) {
    render(root);
    List<GeneratedClass> classes = new ArrayList<>();
    GeneratedClass current = null;
    while (!todo.isEmpty()) {
      if (current == null || current.generator.size() > CONSTANTS_ENOUGH) {
        current = new GeneratedClass(new ClassGenerator("Template$" + simpleName(template.getName())));
        classes.add(current);
      }
      generate(todo.remove(), current);
    }
    for (GeneratedClass generated : classes) {
      generated.load(explanation);
    }
    // Changes the tree last, when nothing can fail any more.
    for (Map.Entry<SimpleNode, List<Piece>> entry : pieces.entrySet()) {
      replace(entry.getKey(), entry.getValue());
    }
  }

  private static void replace(SimpleNode parent, List<Piece> all) {
    if (all.get(0).renders()) {
      Node[] standIns = new Node[all.size()];
      for (int i = 0; i < standIns.length; i++) {
        standIns[i] = all.get(i).standIn();
      }
      Internals.CHILDREN.set(parent, standIns);
    } else {
      for (Piece piece : all) {
        parent.jjtAddChild(piece.standIn(), piece.index());
      }
    }
  }

  private void generate(Piece piece, GeneratedClass into) {
    String method = into.generator.newMethodName(piece.renders() ? "render" : "value");
    into.add(piece, method);
    MethodVisitor visitor = into.generator.method(method, piece.renders() ? ClassGenerator.RENDER
        : ClassGenerator.VALUE);
    if (piece.renders()) {
      BodyGenerator body = BodyGenerator.ofPiece(this, into.generator, visitor);
      body.nodes(List.of(piece.nodes()));
      body.finishPiece();
    } else {
      BodyGenerator body = new BodyGenerator(this, into.generator, visitor, 1, null);
      body.value(piece.nodes()[0]);
      body.finish(Opcodes.ARETURN);
    }
  }

  /** Makes pieces of all children of a node: one, or several if they exceed a class. */
  List<CompiledNode> render(SimpleNode parent) {
    List<CompiledNode> standIns = new ArrayList<>();
    List<Node> group = new ArrayList<>();
    int sum = 0;
    for (int i = 0; i < parent.jjtGetNumChildren(); i++) {
      Node child = parent.jjtGetChild(i);
      if (sum > 0 && sum + cost.of(child) > HUGE) {
        standIns.add(add(parent, -1, group.toArray(new Node[0]), 0));
        group.clear();
        sum = 0;
      }
      group.add(child);
      sum += cost.of(child);
    }
    if (!group.isEmpty()) {
      standIns.add(add(parent, -1, group.toArray(new Node[0]), 0));
    }
    return standIns;
  }

  /** Makes a piece of the value of a child. */
  void compute(SimpleNode parent, int child) {
    Node node = parent.jjtGetChild(child);
    add(parent, child, new Node[] {node}, node.getType());
  }

  private CompiledNode add(SimpleNode parent, int index, Node[] nodes, int type) {
    CompiledNode standIn = new CompiledNode(engine, template, nodes, type);
    standIn.jjtSetParent(parent);
    Piece piece = new Piece(standIn, index, nodes);
    todo.add(piece);
    List<Piece> ofParent = pieces.get(parent);
    if (ofParent == null) {
      ofParent = new ArrayList<>();
      pieces.put(parent, ofParent);
    }
    ofParent.add(piece);
    return standIn;
  }

  /** Returns the class name for stack traces and profilers: the template's name with other characters replaced. */
  private static String simpleName(String name) {
    StringBuilder simple = new StringBuilder();
    for (int i = Math.max(0, name.length() - 60); i < name.length(); i++) {
      char c = name.charAt(i);
      simple.append(c < 0x80 && Character.isLetterOrDigit(c) ? c : '_');
    }
    return simple.isEmpty() ? "_" : simple.toString();
  }
}
