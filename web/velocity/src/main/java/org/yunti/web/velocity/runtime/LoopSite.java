package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.util.introspection.Info;

/** What is known of a {@code #foreach} when it is compiled. */
public final class LoopSite {
  final EngineFacts engine;
  final Foreach directive;
  final Node iterable;
  final String key;
  final String scopeName;
  final boolean hasScope;
  final boolean skipsInvalid;
  final Info info;
  public final int loopsMax;

  public LoopSite(EngineFacts engine, Foreach directive, Node iterable) {
    this.engine = engine;
    this.directive = directive;
    this.iterable = iterable;
    key = Internals.elementKey(directive).intern();
    scopeName = directive.getScopeName().intern();
    hasScope = directive.isScopeProvided();
    skipsInvalid = Internals.skipsInvalid(directive);
    loopsMax = Internals.loopsMax(directive);
    info = new Info(directive.getTemplateName(), directive.getLine(), directive.getColumn());
  }
}
