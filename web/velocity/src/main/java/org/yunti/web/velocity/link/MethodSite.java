package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.parser.node.ASTMethod;
import org.apache.velocity.util.introspection.Info;

/** What is known of {@code .name(..)} in a reference when it is compiled. */
public final class MethodSite {
  final EngineFacts engine;
  final ASTMethod node;
  final String name;
  final Info info;
  final boolean isStrict;
  final boolean logsInvalid;
  int calls;

  public MethodSite(EngineFacts engine, ASTMethod node) {
    this.engine = engine;
    this.node = node;
    name = node.getMethodName();
    info = new Info(node.getTemplateName(), node.getLine(), node.getColumn());
    isStrict = engine.services.getBoolean(RuntimeConstants.RUNTIME_REFERENCES_STRICT, false);
    logsInvalid = engine.services.getBoolean(RuntimeConstants.RUNTIME_LOG_METHOD_CALL_LOG_INVALID, true);
  }
}
