package org.yunti.web.spring;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import org.apache.velocity.VelocityContext;
import org.springframework.web.servlet.view.AbstractView;
import org.yunti.web.servlet.ServletPages;

/** A template as a view of Spring MVC: the model is its context, and a page that fails leaves the response untouched. */
public class TemplateView extends AbstractView {
  private final ServletPages pages;
  private final String template;

  public TemplateView(ServletPages pages, String template) {
    this.pages = pages;
    this.template = template;
    setContentType("text/html;charset=" + pages.renderer().charset().name());
  }

  public String template() {
    return template;
  }

  @Override
  protected void renderMergedOutputModel(Map<String, Object> model, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    setResponseContentType(request, response);
    // The merged map is this response's own: what a template sets goes nowhere else.
    pages.send(request, response, template, new VelocityContext(model));
  }
}
