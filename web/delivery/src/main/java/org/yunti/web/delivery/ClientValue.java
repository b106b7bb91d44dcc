package org.yunti.web.delivery;

import java.io.IOException;
import java.io.StringWriter;
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
    StringWriter value = new StringWriter();
    node.jjtGetChild(node.jjtGetNumChildren() - 1).render(context, value);
    write(value.getBuffer(), writer);
    return true;
  }

  static void write(CharSequence text, Writer writer) throws IOException {
    StringBuilder literal = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> literal.append("\\\"");
        case '\\' -> literal.append("\\\\");
        case '\n' -> literal.append("\\n");
        case '\r' -> literal.append("\\r");
        // </script> and <!-- would end or change the script; the last two end a line of old JavaScript.
        case '<', '\u2028', '\u2029' -> literal.append(String.format("\\u%04x", (int) c));
        default -> {
          if (c < ' ') {
            literal.append(String.format("\\u%04x", (int) c));
          } else {
            literal.append(c);
          }
        }
      }
    }
    writer.write(literal.append('"').toString());
  }
}
