package org.yunti.web.velocity;

import java.util.List;
import org.apache.velocity.Template;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.web.velocity.compiler.Explanation;
import org.yunti.web.velocity.compiler.TemplateCompiler;
import org.yunti.web.velocity.tree.CompiledMacro;
import org.yunti.web.velocity.tree.MacroBody;

/** A template of Velocity that compiles itself when it is loaded. */
public final class CompiledTemplate extends Template {
  /** Of its own: what Velocity logs stays what it is. */
  private static final Logger LOG = LoggerFactory.getLogger(CompiledTemplate.class);

  private Explanation explanation;

  /** Velocity calls it behind each parse. */
  @Override
  public void initDocument() {
    List<MacroBody> outer = CompiledMacro.close();
    try {
      super.initDocument();
      explanation = TemplateCompiler.compile(this, (SimpleNode) data, rsvc);
    } finally {
      CompiledMacro.open(outer);
    }
    if (explanation.wholeReason() != null) {
      LOG.warn("template '{}' is interpreted: {}", name, explanation.wholeReason());
    }
  }

  /** What was compiled. */
  public Explanation explanation() {
    return explanation;
  }
}
