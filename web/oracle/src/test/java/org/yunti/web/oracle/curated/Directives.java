package org.yunti.web.oracle.curated;

import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Locale;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.Node;
import org.yunti.web.oracle.Journal;

/** Custom directives. They use the tree, the writer and the context, so a compiler must pass all three. */
public final class Directives {
  private Directives() {}

  /** Writes its arguments as values and as source. */
  public static final class Show extends Directive {
    @Override
    public String getName() {
      return "show";
    }

    @Override
    public int getType() {
      return LINE;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
      for (int i = 0; i < node.jjtGetNumChildren(); i++) {
        writer.write(node.jjtGetChild(i).literal() + '=' + node.jjtGetChild(i).value(context) + ';');
      }
      Journal.note("show in " + context.getCurrentTemplateName() + ':' + getLine() + ':' + getColumn());
      context.put("shown", node.jjtGetNumChildren());
      return true;
    }
  }

  /** Renders its body to a string and writes it in capitals. */
  public static final class Upper extends Directive {
    @Override
    public String getName() {
      return "upper";
    }

    @Override
    public int getType() {
      return BLOCK;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
      StringWriter body = new StringWriter();
      node.jjtGetChild(node.jjtGetNumChildren() - 1).render(context, body);
      writer.write(body.toString().toUpperCase(Locale.ROOT));
      return true;
    }
  }

  /** Renders its body as often as its argument states, with a scope; it can be stopped. */
  public static final class Repeat extends Directive {
    @Override
    public String getName() {
      return "repeat";
    }

    @Override
    public int getType() {
      return BLOCK;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
      int times = ((Number) node.jjtGetChild(0).value(context)).intValue();
      preRender(context);
      try {
        for (int i = 0; i < times; i++) {
          context.put("time", i);
          node.jjtGetChild(1).render(context, writer);
        }
      } finally {
        postRender(context);
      }
      return true;
    }
  }

  /** Sets the reference of its argument to a value from the runtime's settings. */
  public static final class Fill extends Directive {
    private String known = "";

    @Override
    public String getName() {
      return "fill";
    }

    @Override
    public int getType() {
      return LINE;
    }

    @Override
    public void init(RuntimeServices services, InternalContextAdapter context, Node node) {
      super.init(services, context, node);
      known = services.getString("fill.with", "nothing") + ' ' + getTemplateName();
      Journal.note("init fill in " + context.getCurrentTemplateName());
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) {
      ((ASTReference) node.jjtGetChild(0)).setValue(context, known);
      return false;
    }
  }

  /** Writes the names of its arguments' nodes. */
  public static class Names extends Directive {
    @Override
    public String getName() {
      return "names";
    }

    @Override
    public int getType() {
      return LINE;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
      writer.write(node.toString());
      for (int i = 0; i < node.jjtGetNumChildren(); i++) {
        writer.write(node.jjtGetChild(i).toString());
      }
      return true;
    }
  }

  /** Writes the names of its nodes, also of those in its body. */
  public static final class Nested extends Names {
    @Override
    public String getName() {
      return "nested";
    }

    @Override
    public int getType() {
      return BLOCK;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
      super.render(context, writer, node);
      // The compiler combines nodes of a body; their names stay.
      Node body = node.jjtGetChild(node.jjtGetNumChildren() - 1);
      for (int i = 0; i < body.jjtGetNumChildren(); i++) {
        writer.write(body.jjtGetChild(i).toString());
      }
      return true;
    }
  }
}
