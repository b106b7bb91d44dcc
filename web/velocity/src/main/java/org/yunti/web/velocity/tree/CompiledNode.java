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
 * Stands in the syntax tree for nodes that have been compiled: for all children of a node that renders them, or for one node whose value
 * is asked for. Whatever walks or renders the tree, such as a directive of the user's own, comes to the compiled code through it.
 */
public final class CompiledNode extends SimpleNode {
  private final EngineFacts engine;
  private final Node[] originals;
  private CompiledCode code;
  private int piece;

  /** @param type what {@link #getType} answers: that of the node whose value this is */
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

  /** Before the tree is given to anyone. */
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
