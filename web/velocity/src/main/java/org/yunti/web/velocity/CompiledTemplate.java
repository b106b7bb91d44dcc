package org.yunti.web.velocity;

import java.util.List;
import org.apache.velocity.Template;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.yunti.web.velocity.compiler.Explanation;
import org.yunti.web.velocity.compiler.TemplateCompiler;
import org.yunti.web.velocity.runtime.DeferredMacro;

/** A template of Velocity that compiles itself when it is loaded. */
public final class CompiledTemplate extends Template {
  private Explanation explanation;

  /** Velocity calls it behind each parse. */
  @Override
  public void initDocument() {
    List<DeferredMacro> outer = DeferredMacro.defer();
    try {
      super.initDocument();
      explanation = TemplateCompiler.compile(this, (SimpleNode) data, rsvc);
    } finally {
      DeferredMacro.makeKnown(outer);
    }
    if (explanation.wholeReason() != null) {
      log.warn("template '{}' is interpreted: {}", name, explanation.wholeReason());
    }
  }

  /** What was compiled. */
  public Explanation explanation() {
    return explanation;
  }
}
