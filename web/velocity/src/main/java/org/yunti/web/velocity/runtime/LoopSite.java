package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.util.introspection.Info;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/** Facts of a {@code #foreach}, known when it is compiled. */
public final class LoopSite {
  final EngineFacts engine;
  final Foreach directive;
  final Node iterable;
  final String key;
  /** Name of the scope variable, {@code foreach} by default, interned. */
  public final String scopeName;
  /** True if the loop provides its scope variable. */
  public final boolean hasScope;
  final boolean skipsInvalid;
  final Info info;
  /** Iterations at most. */
  public final int loopsMax;

  /** Reads the facts of a loop from its directive. */
  public LoopSite(EngineFacts engine, Foreach directive, Node iterable) {
    this.engine = engine;
    this.directive = directive;
    this.iterable = iterable;
    key = Internals.ELEMENT_KEY.of(directive).intern();
    scopeName = directive.getScopeName().intern();
    hasScope = directive.isScopeProvided();
    skipsInvalid = Internals.SKIPS_INVALID.of(directive);
    loopsMax = Internals.LOOPS_MAX.of(directive);
    info = new Info(directive.getTemplateName(), directive.getLine(), directive.getColumn());
  }
}
