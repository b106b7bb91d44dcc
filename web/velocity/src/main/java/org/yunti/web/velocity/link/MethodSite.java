package org.yunti.web.velocity.link;

import org.apache.velocity.runtime.parser.node.ASTMethod;
import org.apache.velocity.util.introspection.Info;
import org.yunti.web.velocity.tree.EngineFacts;

/** Facts of a {@code .name(..)} in a reference, known when it is compiled. */
public final class MethodSite {
  final EngineFacts engine;
  final ASTMethod node;
  final String name;
  final Info info;
  /** Number of lookups. */
  int calls;

  /** Reads the facts of a call from its node. */
  public MethodSite(EngineFacts engine, ASTMethod node) {
    this.engine = engine;
    this.node = node;
    name = node.getMethodName();
    info = new Info(node.getTemplateName(), node.getLine(), node.getColumn());
  }
}
