package org.yunti.web.velocity.tree;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.directive.Macro;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;

/**
 * {@code #macro}. Its macro is known to the whole engine as soon as it is initialised, before the template that it stands in is compiled:
 * what the engine is given is a {@link MacroBody}, which lets no other thread into the body until compiled code has been put into it.
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

  /** Bodies of this thread are closed to others from now on. What is given back goes to {@link #open(List)}, whatever happens between. */
  public static List<MacroBody> close() {
    List<MacroBody> outer = LOADING.get();
    LOADING.set(new ArrayList<>());
    return outer;
  }

  /** Opens the bodies that have been initialised since {@code close}, which has given {@code outer}. */
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
