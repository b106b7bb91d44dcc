package org.yunti.web.spring;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import org.apache.velocity.VelocityContext;
import org.springframework.web.servlet.view.AbstractView;
import org.yunti.web.servlet.ServletPages;

/**
 * View of Spring MVC that renders a template with the model as its context.
 *
 * <p>The page is rendered whole before the response begins. If the template fails, the response loses its content type
 * and its body, as Spring's own handling of errors requires: with a content type already set, an error in another
 * format has no converter. Other headers stay. A response that is already committed stays as it is.
 */
public class TemplateView extends AbstractView {
  private final ServletPages pages;
  private final String template;

  /** Creates a view of a template. */
  public TemplateView(ServletPages pages, String template) {
    this.pages = pages;
    this.template = template;
    setContentType("text/html;charset=" + pages.renderer().charset().name());
  }

  /** Returns the name of the template. */
  public String template() {
    return template;
  }

  @Override
  protected void renderMergedOutputModel(Map<String, Object> model, HttpServletRequest request,
      HttpServletResponse response)
      throws IOException {
    try {
      // The merged map belongs to this response, so a template's #set affects nothing else.
      pages.renderer().whole(template, new VelocityContext(model), page -> {
        setResponseContentType(request, response);
        pages.send(request, response, page);
      });
    } catch (RuntimeException | Error e) {
      if (!response.isCommitted()) {
        response.setContentType(null);
        response.resetBuffer();
      }
      throw e;
    }
  }
}
