package org.yunti.web.delivery;

import java.io.IOException;
import java.io.Writer;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.Node;

/**
 * The directive {@code #clientvalue() .. #end}: the output of the block as a JavaScript string in a script of a page.
 * Build-time shrinking puts it around the values of marked loops; authors do not need it.
 */
public final class ClientValue extends Directive {
  @Override
  public String getName() {
    return "clientvalue";
  }

  @Override
  public int getType() {
    return BLOCK;
  }

  @Override
  public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
    writer.write("\"");
    node.jjtGetChild(node.jjtGetNumChildren() - 1).render(context, new LiteralWriter(writer));
    writer.write("\"");
    return true;
  }
}
