package org.yunti.web.bench.engine;

import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.yunti.web.bench.page.Page;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.velocity.output.ByteWriter;

/** Renderer of Velocity's template with either kind of writer. Each page has its own context, as each request has. */
public final class VelocityRenderer {
  private VelocityRenderer() {}

  /** Returns a renderer with a writer of the JDK, a new one for each page. */
  static Renderer characters(String page, boolean isCompiling) {
    Template template = template(page, isCompiling);
    Map<String, Object> model = Pages.of(page).model();
    return out -> {
      Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
      template.merge(context(model), writer);
      writer.flush();
    };
  }

  /** Returns a renderer with a ByteWriter, which is reused for the next page. */
  static Renderer bytes(String page, boolean isCompiling) {
    Template template = template(page, isCompiling);
    Map<String, Object> model = Pages.of(page).model();
    ByteWriter writer = ByteWriter.buffer(StandardCharsets.UTF_8);
    return out -> {
      writer.reset();
      template.merge(context(model), writer);
      writer.writeTo(out);
    };
  }

  /** Returns a template of a new engine. */
  public static Template template(String page, boolean isCompiling) {
    Page source = Pages.of(page);
    VelocityEngine engine = VelocityEngines.create(isCompiling);
    VelocityEngines.put(engine, source);
    return engine.getTemplate(source.template());
  }

  public static VelocityContext context(Map<String, Object> model) {
    return new VelocityContext(new HashMap<>(model));
  }
}
