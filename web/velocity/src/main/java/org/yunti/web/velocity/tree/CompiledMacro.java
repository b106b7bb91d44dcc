package org.yunti.web.velocity.tree;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.directive.Macro;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;

/**
 * The directive {@code #macro}. The whole engine knows a macro as soon as it is initialised, before its template is
 * compiled. So the engine receives a {@link MacroBody}, which blocks other threads until compiled code is in the body.
 */
public final class CompiledMacro extends Macro {
  private static final ThreadLocal<List<MacroBody>> LOADING = new ThreadLocal<>();

  @Override
  public void init(RuntimeServices services, InternalContextAdapter context, Node node) {
    List<MacroBody> loading = LOADING.get();
    if (loading == null) {
      super.init(services, context, node);
      return;
    }
    int last = node.jjtGetNumChildren() - 1;
    Node block = node.jjtGetChild(last);
    MacroBody body = new MacroBody((SimpleNode) block, services);
    loading.add(body);
    node.jjtAddChild(body, last);
    try {
      super.init(services, context, node);
    } finally {
      node.jjtAddChild(block, last);
    }
  }

  /**
   * Closes the bodies that this thread initialises from now on to other threads.
   *
   * @return the state to pass to {@link #open(List)}, in a finally block
   */
  public static List<MacroBody> close() {
    List<MacroBody> outer = LOADING.get();
    LOADING.set(new ArrayList<>());
    return outer;
  }

  /** Opens the bodies initialised since {@code close}, which returned {@code outer}. */
  public static void open(List<MacroBody> outer) {
    List<MacroBody> own = LOADING.get();
    if (outer == null) {
      LOADING.remove();
    } else {
      LOADING.set(outer);
    }
    for (MacroBody body : own) {
      body.open();
    }
  }
}
