package org.yunti.web.velocity;

import java.io.IOException;
import java.io.Writer;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.Node;

/** Custom directive that renders its block twice. */
public final class Twice extends Directive {
  @Override
  public String getName() {
    return "twice";
  }

  @Override
  public int getType() {
    return BLOCK;
  }

  @Override
  public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
    Node block = node.jjtGetChild(node.jjtGetNumChildren() - 1);
    return block.render(context, writer) && block.render(context, writer);
  }
}
