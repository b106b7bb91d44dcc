package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.util.introspection.Info;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/** What is known of a {@code #foreach} when it is compiled. */
public final class LoopSite {
  final EngineFacts engine;
  final Foreach directive;
  final Node iterable;
  final String key;
  public final String scopeName;
  public final boolean hasScope;
  final boolean skipsInvalid;
  final Info info;
  public final int loopsMax;

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
