package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.parser.node.ASTIndex;

/** What is known of {@code [index]} in a reference when it is compiled. */
public final class IndexSite {
  final EngineFacts engine;
  final ASTIndex node;
  final boolean isStrict;

  public IndexSite(EngineFacts engine, ASTIndex node) {
    this.engine = engine;
    this.node = node;
    isStrict = engine.services.getBoolean(RuntimeConstants.RUNTIME_REFERENCES_STRICT, false);
  }
}
