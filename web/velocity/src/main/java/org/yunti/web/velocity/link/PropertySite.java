package org.yunti.web.velocity.link;

import org.apache.velocity.runtime.parser.node.ASTIdentifier;
import org.apache.velocity.util.introspection.Info;
import org.yunti.web.velocity.tree.EngineFacts;

/** What is known of {@code .name} in a reference when it is compiled. */
public final class PropertySite {
  final EngineFacts engine;
  final ASTIdentifier node;
  final Info info;
  /** How often it was looked up: a page that is rendered a few times pays for no method handles. */
  int calls;

  public PropertySite(EngineFacts engine, ASTIdentifier node) {
    this.engine = engine;
    this.node = node;
    info = new Info(node.getTemplateName(), node.getLine(), node.getColumn());
  }
}
