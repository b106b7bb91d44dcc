package org.yunti.web.velocity.compiler;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.runtime.parser.node.Node;

/** Explanation of a template's compilation: the compiled nodes, and the nodes left to Velocity's interpreter. */
public final class Explanation {
  /**
   * Node that is interpreted, with all nodes below it.
   *
   * @param template name of the template
   * @param line line of the node, from 1
   * @param column column of the node, from 1
   * @param literal source of the node, as far as Velocity keeps it
   * @param reason what the node is, why it is not compiled, and what to do
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

  /** Returns the source of a node as far as Velocity keeps it, or its first token. */
  private static String source(Node node) {
    String source;
    try {
      source = node.literal();
    } catch (RuntimeException e) {
      source = null; // its tokens are gone
    }
    if (source == null) {
      source = node.getFirstTokenImage();
    }
    return source == null ? "" : source;
  }

  void bytecode(int size) {
    bytes += size;
  }

  /** Records that the whole template is interpreted. */
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

  /** Returns the number of nodes of the syntax tree that run as bytecode. */
  public int compiledNodes() {
    return compiledNodes;
  }

  /** Returns the number of nodes that the interpreter renders. */
  public int interpretedNodes() {
    return interpretedNodes;
  }

  /** Returns the interpreted nodes, without the nodes below them. */
  public List<Interpreted> interpreted() {
    return List.copyOf(interpreted);
  }

  /** Returns the size of the generated classes in bytes. */
  public int bytecodeBytes() {
    return bytes;
  }

  /** Returns the reason why the whole template is interpreted; null if it is not. */
  public String wholeReason() {
    return wholeReason;
  }
}
