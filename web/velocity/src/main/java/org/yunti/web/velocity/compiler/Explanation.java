package org.yunti.web.velocity.compiler;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.runtime.parser.node.Node;

/** What was compiled of a template, and what is left to Velocity's interpreter. */
public final class Explanation {
  /**
   * A node that is interpreted, with all below it.
   *
   * @param literal its source, as far as Velocity keeps it
   * @param reason why
   */
  public record Interpreted(String template, int line, int column, String literal, String reason) {}

  private final List<Interpreted> interpreted = new ArrayList<>();
  private int compiledNodes;
  private int interpretedNodes;
  private int bytes;
  private String wholeReason;

  void compiled() {
    compiledNodes++;
  }

  void interpreted(Node node, String reason) {
    interpretedNodes += count(node);
    interpreted.add(new Interpreted(node.getTemplateName(), node.getLine(), node.getColumn(), source(node), reason));
  }

  private static String source(Node node) {
    try {
      return node.literal();
    } catch (RuntimeException e) {
      return node.getClass().getSimpleName(); // Velocity keeps the source of some nodes only
    }
  }

  void bytecode(int size) {
    bytes += size;
  }

  /** Nothing is compiled. */
  void whole(Node root, String reason) {
    compiledNodes = 0;
    interpretedNodes = count(root);
    interpreted.clear();
    wholeReason = reason;
  }

  private static int count(Node node) {
    int n = 1;
    for (int i = 0; i < node.jjtGetNumChildren(); i++) {
      n += count(node.jjtGetChild(i));
    }
    return n;
  }

  /** Nodes of the syntax tree that run as bytecode. */
  public int compiledNodes() {
    return compiledNodes;
  }

  /** Nodes that the interpreter renders. */
  public int interpretedNodes() {
    return interpretedNodes;
  }

  public List<Interpreted> interpreted() {
    return List.copyOf(interpreted);
  }

  /** Size of the generated classes, in bytes. */
  public int bytecodeBytes() {
    return bytes;
  }

  /** Why the whole template is interpreted; null: it is not. */
  public String wholeReason() {
    return wholeReason;
  }
}
