package org.yunti.web.oracle;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import org.apache.velocity.Template;
import org.apache.velocity.context.Context;
import org.apache.velocity.exception.MethodInvocationException;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.apache.velocity.runtime.resource.Resource;
import org.apache.velocity.runtime.resource.ResourceManagerImpl;
import org.slf4j.LoggerFactory;

/** Engines with one fault each. The harness must detect them, or it proves nothing about the right one. */
public final class Wrong {
  private Wrong() {}

  /** Fault: renders by the correct template, and damages the result. */
  private interface Fault {
    void merge(Template right, Context context, Writer writer, List<String> libraries);
  }

  private static final class Spoilt extends Template {
    private final Fault fault;
    private boolean inside;

    Spoilt(Fault fault) {
      this.fault = fault;
    }

    @Override
    public void merge(Context context, Writer writer, List<String> libraries) {
      if (inside) {
        super.merge(context, writer, libraries);
        return;
      }
      inside = true;
      try {
        fault.merge(this, context, writer, libraries);
      } finally {
        inside = false;
      }
    }
  }

  /** Resource manager whose templates have a fault. */
  private abstract static class Manager extends ResourceManagerImpl {
    private final Fault fault;

    Manager(Fault fault) {
      this.fault = fault;
    }

    @Override
    protected Resource createResource(String name, int type) {
      return type == RESOURCE_TEMPLATE ? new Spoilt(fault) : super.createResource(name, type);
    }
  }

  /** Loses one character. */
  public static final class Text extends Manager {
    public Text() {
      super((right, context, writer, libraries) -> right.merge(context, new FilterWriter(writer) {
        @Override
        public void write(String text) throws IOException {
          super.write(text.equals("text") ? "tex" : text);
        }
      }, libraries));
    }
  }

  /** Loses the output before an exception. */
  public static final class Partial extends Manager {
    public Partial() {
      super((right, context, writer, libraries) -> {
        Writer held = new StringWriter();
        right.merge(context, held, libraries);
        try {
          writer.write(held.toString());
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }
  }

  /** Changes the exception's message. */
  public static final class Message extends Manager {
    public Message() {
      super((right, context, writer, libraries) -> {
        try {
          right.merge(context, writer, libraries);
        } catch (MethodInvocationException e) {
          throw new MethodInvocationException(e.getMessage() + '.', e.getCause(), e.getMethodName(),
              e.getTemplateName(), e.getLineNumber(), e.getColumnNumber());
        }
      });
    }
  }

  /** Changes only the exception's column. */
  public static final class Column extends Manager {
    public Column() {
      super((right, context, writer, libraries) -> {
        try {
          right.merge(context, writer, libraries);
        } catch (MethodInvocationException e) {
          MethodInvocationException other = new MethodInvocationException("", e.getCause(), e.getMethodName(),
              e.getTemplateName(), e.getLineNumber(), e.getColumnNumber() + 1) {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
              return e.getMessage();
            }
          };
          other.setReferenceName(e.getReferenceName());
          throw other;
        }
      });
    }
  }

  /** Changes the class of the cause. */
  public static final class Cause extends Manager {
    public Cause() {
      super((right, context, writer, libraries) -> {
        try {
          right.merge(context, writer, libraries);
        } catch (VelocityException e) {
          throw new VelocityException(e.getMessage(), new IllegalStateException(e.getCause()));
        }
      });
    }
  }

  /** Writes one more name to the context. */
  public static final class ContextWrite extends Manager {
    public ContextWrite() {
      super((right, context, writer, libraries) -> {
        right.merge(context, writer, libraries);
        context.put("left", "over");
      });
    }
  }

  /**
   * Renders the children of a block in another order: the order of calls into the model differs, the output does not.
   */
  public static final class CallOrder extends Manager {
    public CallOrder() {
      super((right, context, writer, libraries) -> {
        Node root = (SimpleNode) right.getData();
        Node first = root.jjtGetChild(0);
        root.jjtAddChild(root.jjtGetChild(1), 0);
        root.jjtAddChild(first, 1);
        right.merge(context, writer, libraries);
      });
    }
  }

  /** Calls a toString() once too often. */
  public static final class CallCount extends Manager {
    public CallCount() {
      super((right, context, writer, libraries) -> {
        right.merge(context, writer, libraries);
        String.valueOf(context.get("t"));
      });
    }
  }

  /** Logs one more message. */
  public static final class Log extends Manager {
    public Log() {
      super((right, context, writer, libraries) -> {
        right.merge(context, writer, libraries);
        LoggerFactory.getLogger("org.apache.velocity.rendering").debug("too many");
      });
    }
  }

  /** Is right only for the first class: a cache that does not compare classes. */
  public static final class StaleCache extends Manager {
    public StaleCache() {
      super(new Fault() {
        private Class<?> seen;

        @Override
        public void merge(Template right, Context context, Writer writer, List<String> libraries) {
          Class<?> type = context.get("p") == null ? null : context.get("p").getClass();
          seen = seen == null ? type : seen;
          if (seen != type) {
            context.put("p", "stale");
          }
          right.merge(context, writer, libraries);
        }
      });
    }
  }
}
