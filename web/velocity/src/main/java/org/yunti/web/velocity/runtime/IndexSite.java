package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.parser.node.ASTIndex;
import org.yunti.web.velocity.tree.EngineFacts;

/** What is known of {@code [index]} in a reference when it is compiled. */
public final class IndexSite {
  final EngineFacts engine;
  final ASTIndex node;

  public IndexSite(EngineFacts engine, ASTIndex node) {
    this.engine = engine;
    this.node = node;
  }
}
