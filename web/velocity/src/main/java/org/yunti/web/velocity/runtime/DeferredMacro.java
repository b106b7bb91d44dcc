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
  private static final ThreadLocal<List<DeferredMacro>> WAITING = new ThreadLocal<>();

  private RuntimeServices services;
  private InternalContextAdapter context;
  private Node node;

  @Override
  public void init(RuntimeServices engine, InternalContextAdapter adapter, Node directive) {
    List<DeferredMacro> waiting = WAITING.get();
    if (waiting == null) {
      super.init(engine, adapter, directive);
    } else {
      services = engine;
      context = adapter;
      node = directive;
      waiting.add(this);
    }
  }

  private void makeKnown() {
    super.init(services, context, node);
    services = null;
    context = null;
    node = null;
  }

  /** Macros of this thread wait from now on. What is given back goes to {@link #makeKnown(List)}, whatever happens between. */
  public static List<DeferredMacro> defer() {
    List<DeferredMacro> outer = WAITING.get();
    WAITING.set(new ArrayList<>());
    return outer;
  }

  /** Those that have waited since {@code defer}, which has given {@code outer}, become known. */
  public static void makeKnown(List<DeferredMacro> outer) {
    List<DeferredMacro> own = WAITING.get();
    if (outer == null) {
      WAITING.remove();
    } else {
      WAITING.set(outer);
    }
    for (DeferredMacro macro : own) {
      macro.makeKnown();
    }
  }
}
