package org.yunti.web.velocity.link;

import org.apache.velocity.runtime.parser.node.ASTIdentifier;
import org.apache.velocity.util.introspection.Info;
import org.yunti.web.velocity.tree.EngineFacts;

/** Facts of a {@code .name} in a reference, known when it is compiled. */
public final class PropertySite {
  final EngineFacts engine;
  final ASTIdentifier node;
  final Info info;
  /** Number of lookups: a page that is rendered a few times creates no method handles. */
  int calls;

  /** Reads the facts of a property from its node. */
  public PropertySite(EngineFacts engine, ASTIdentifier node) {
    this.engine = engine;
    this.node = node;
    info = new Info(node.getTemplateName(), node.getLine(), node.getColumn());
  }
}
