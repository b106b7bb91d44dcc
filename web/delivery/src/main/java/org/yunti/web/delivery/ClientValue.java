package org.yunti.web.delivery;

import java.io.IOException;
import java.io.Writer;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.Node;

/**
 * {@code #clientvalue() .. #end}: what the block writes, as a JavaScript string that may stand in a script of a page. Build-time shrinking
 * puts it around the values of marked loops; an author has no need of it.
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
