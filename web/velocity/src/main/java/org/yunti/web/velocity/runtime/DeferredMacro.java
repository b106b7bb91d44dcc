package org.yunti.web.velocity.runtime;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.directive.Macro;
import org.apache.velocity.runtime.parser.node.Node;

/**
 * {@code #macro}, whose macro is made known to the engine when its template has been compiled. Stock makes it known at once: another thread
 * that loads the same template could then render a body while compiled code is put into it.
 */
public final class DeferredMacro extends Macro {
  private static final ThreadLocal<List<Runnable>> WAITING = new ThreadLocal<>();

  @Override
  public void init(RuntimeServices services, InternalContextAdapter context, Node node) {
    List<Runnable> waiting = WAITING.get();
    if (waiting == null) {
      super.init(services, context, node);
    } else {
      waiting.add(() -> super.init(services, context, node));
    }
  }

  /** Initialises a template and changes its tree; its macros are known afterwards, also where that fails. */
  public static void initialise(Runnable template) {
    List<Runnable> outer = WAITING.get();
    List<Runnable> own = new ArrayList<>();
    WAITING.set(own);
    try {
      template.run();
    } finally {
      if (outer == null) {
        WAITING.remove();
      } else {
        WAITING.set(outer);
      }
      own.forEach(Runnable::run);
    }
  }
}
