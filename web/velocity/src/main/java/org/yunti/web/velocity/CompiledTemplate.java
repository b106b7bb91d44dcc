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

/** Template of Velocity that is compiled when it is loaded. */
public final class CompiledTemplate extends Template {
  /** Logger of this class; Velocity's own log messages stay unchanged. */
  private static final Logger LOG = LoggerFactory.getLogger(CompiledTemplate.class);

  private Explanation explanation;

  /** Initialises and compiles the template; Velocity calls this after each parse. */
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

  /** Returns which nodes are compiled, and why the rest is interpreted; null before the template is loaded. */
  public Explanation explanation() {
    return explanation;
  }
}
