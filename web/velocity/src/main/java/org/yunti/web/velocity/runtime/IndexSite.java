package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.parser.node.ASTIndex;
import org.yunti.web.velocity.tree.EngineFacts;

/** Facts of an {@code [index]} in a reference, known when it is compiled. */
public final class IndexSite {
  final EngineFacts engine;
  final ASTIndex node;

  /** Keeps the node of an index. */
  public IndexSite(EngineFacts engine, ASTIndex node) {
    this.engine = engine;
    this.node = node;
  }
}
