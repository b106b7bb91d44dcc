package org.yunti.web.bench.engine;

import freemarker.cache.ClassTemplateLoader;
import freemarker.template.Configuration;
import freemarker.template.Template;
import freemarker.template.TemplateException;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.yunti.web.bench.page.Pages;

/** Renderer of FreeMarker, which writes characters only. */
final class FreemarkerRenderer {
  private FreemarkerRenderer() {}

  static Renderer of(String page) {
    Configuration configuration = new Configuration(Configuration.VERSION_2_3_34);
    configuration.setTemplateLoader(new ClassTemplateLoader(FreemarkerRenderer.class, "/freemarker"));
    configuration.setDefaultEncoding("UTF-8");
    Template template;
    try {
      template = configuration.getTemplate(page + ".ftl");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, Object> model = Pages.of(page).model();
    return out -> {
      Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
      try {
        template.process(model, writer);
      } catch (TemplateException e) {
        throw new IOException(e);
      }
      writer.flush();
    };
  }
}
