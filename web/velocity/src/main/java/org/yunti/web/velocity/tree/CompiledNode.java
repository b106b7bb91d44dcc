package org.yunti.web.velocity.tree;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import org.apache.velocity.Template;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.apache.velocity.runtime.parser.node.StandardParserVisitor;

/**
 * Node that replaces compiled nodes in the syntax tree: all children of a rendering node, or one node with a value.
 * Code that walks or renders the tree, such as a custom directive, reaches the compiled code through it.
 */
public final class CompiledNode extends SimpleNode {
  private final EngineFacts engine;
  private final Node[] originals;
  private CompiledCode code;
  private int piece;

  /**
   * Creates a node that is not yet bound to code.
   *
   * @param type result of {@link #getType}: the type of the node with this value
   */
  public CompiledNode(EngineFacts engine, Template template, Node[] originals, int type) {
    super(type);
    this.engine = engine;
    this.template = template;
    this.originals = originals;
    rsvc = engine.services;
    line = originals[0].getLine();
    column = originals[0].getColumn();
    firstImage = originals[0].getFirstTokenImage();
    lastImage = originals[originals.length - 1].getLastTokenImage();
  }

  /** Binds the node to a piece of compiled code, before other threads see the tree. */
  public void bind(CompiledCode compiled, int number) {
    code = compiled;
    piece = number;
  }

  @Override
  public boolean render(InternalContextAdapter context, Writer writer) throws IOException {
    if (engine.needsInterpreter(context)) {
      for (Node node : originals) {
        node.render(context, writer);
      }
    } else {
      code.render(piece, context, writer);
    }
    return true;
  }

  @Override
  public Object value(InternalContextAdapter context) {
    if (engine.needsInterpreter(context)) {
      return originals[0].value(context);
    }
    try {
      return code.value(piece, context);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean evaluate(InternalContextAdapter context) {
    return originals[0].evaluate(context);
  }

  @Override
  public Object execute(Object o, InternalContextAdapter context) {
    return originals[0].execute(o, context);
  }

  @Override
  public String literal() {
    StringBuilder all = new StringBuilder();
    for (Node node : originals) {
      all.append(node.literal());
    }
    return all.toString();
  }

  /** Returns the names of the replaced nodes: messages contain them. */
  @Override
  public String toString() {
    StringBuilder all = new StringBuilder();
    for (Node node : originals) {
      all.append(node);
    }
    return all.toString();
  }

  @Override
  public Object jjtAccept(StandardParserVisitor visitor, Object data) {
    Object result = data;
    for (Node node : originals) {
      result = node.jjtAccept(visitor, data);
    }
    return result;
  }

  @Override
  public Object init(InternalContextAdapter context, Object data) {
    return data;
  }
}
