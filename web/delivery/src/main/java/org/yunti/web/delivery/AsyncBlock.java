package org.yunti.web.delivery;

import java.io.IOException;
import java.io.Writer;
import java.util.Map;
import org.apache.velocity.app.event.EventCartridge;
import org.apache.velocity.context.Context;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.context.InternalContextAdapterImpl;
import org.apache.velocity.exception.TemplateInitException;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.Node;

/**
 * The directive {@code #async() .. #end}: a block that the page does not wait for. Enable it with {@code
 * runtime.custom_directives = org.yunti.web.delivery.AsyncBlock}.
 *
 * <pre>
 *   #async({"placeholder": "&lt;p&gt;loading ..&lt;/p&gt;", "error": "&lt;p&gt;not now&lt;/p&gt;", "timeout": 800})
 *   &lt;p&gt;$reviews.load($product)&lt;/p&gt;
 *   #end
 * </pre>
 *
 * <p>All arguments are optional; {@code timeout} is in milliseconds from the moment the page reaches the block. An
 * {@link AsyncPage} shows the placeholder until the block arrives; any other page renders the block in place.
 *
 * <p>The block sees the context as it was when the page reached it. Its own {@code #set}s stay its own. Two threads use
 * the context's objects, so these must be thread-safe.
 */
public final class AsyncBlock extends Directive {
  private Node block;
  private Node arguments;

  @Override
  public String getName() {
    return "async";
  }

  @Override
  public int getType() {
    return BLOCK;
  }

  @Override
  public void init(RuntimeServices services, InternalContextAdapter context, Node node) throws TemplateInitException {
    super.init(services, context, node);
    block = node.jjtGetChild(node.jjtGetNumChildren() - 1);
    arguments = node.jjtGetNumChildren() > 1 ? node.jjtGetChild(0) : null;
  }

  @Override
  public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
    Object sink = context.get(AsyncPage.KEY);
    // Reads the child again: a compiled template has replaced it.
    Node body = node.jjtGetNumChildren() == 0 ? block : node.jjtGetChild(node.jjtGetNumChildren() - 1);
    if (!(sink instanceof AsyncPage page)) {
      return body.render(context, writer);
    }
    AsyncPage.Settings settings = settings(page, context);
    InternalContextAdapter own = snapshot(context);
    page.add(writer, settings, later -> body.render(own, later));
    return true;
  }

  private AsyncPage.Settings settings(AsyncPage page, InternalContextAdapter context) {
    AsyncPage.Settings settings = page.defaults();
    if (arguments == null) {
      return settings;
    }
    Object value = arguments.value(context);
    if (!(value instanceof Map<?, ?> map)) {
      throw new VelocityException("#async at " + where()
          + " takes a map: {\"placeholder\": .., \"error\": .., \"timeout\": milliseconds}");
    }
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      Object given = entry.getValue();
      settings = switch (String.valueOf(entry.getKey())) {
        case "placeholder" -> new AsyncPage.Settings(String.valueOf(given), settings.error(), settings.timeoutMillis());
        case "error" -> new AsyncPage.Settings(settings.placeholder(), String.valueOf(given), settings.timeoutMillis());
        case "timeout" -> new AsyncPage.Settings(settings.placeholder(), settings.error(), millis(given));
        default -> throw new VelocityException("#async at " + where() + " does not know \"" + entry.getKey()
            + "\"; it takes placeholder, error, timeout");
      };
    }
    return settings;
  }

  private long millis(Object given) {
    if (given instanceof Number number && number.longValue() > 0) {
      return number.longValue();
    }
    throw new VelocityException("#async at " + where() + ": timeout must be a number of milliseconds above 0, not "
        + given);
  }

  private String where() {
    return getTemplateName() + "[line " + getLine() + ", column " + getColumn() + "]";
  }

  /** Returns a copy of the context, independent of the page's own. */
  private static InternalContextAdapter snapshot(InternalContextAdapter context) {
    Context copy = ContextCopy.of(context);
    InternalContextAdapterImpl own = new InternalContextAdapterImpl(copy);
    EventCartridge cartridge = context.getEventCartridge();
    if (cartridge != null) {
      own.attachEventCartridge(cartridge);
    }
    own.pushCurrentTemplateName(context.getCurrentTemplateName());
    own.setCurrentResource(context.getCurrentResource());
    own.setMacroLibraries(context.getMacroLibraries());
    return own;
  }
}
