package org.yunti.web.velocity;

import java.io.StringWriter;
import java.util.HashMap;
import java.util.Map;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.yunti.web.velocity.compiler.Explanation;

/** Page of a template, with its explanation if the engine compiles. */
record RenderResult(String text, Explanation explanation) {
  static RenderResult of(VelocityEngine engine, String text, Map<String, Object> model) {
    Engines.put(engine, "t.vm", text);
    Template template = engine.getTemplate("t.vm");
    StringWriter writer = new StringWriter();
    template.merge(new VelocityContext(new HashMap<>(model)), writer);
    return new RenderResult(writer.toString(), template instanceof CompiledTemplate compiled ? compiled.explanation()
        : null);
  }
}
