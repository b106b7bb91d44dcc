package org.yunti.web.servlet;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.velocity.context.Context;
import org.yunti.web.page.PageRenderer;

/** Servlet that answers GET and HEAD with a page of one template; {@link #model} provides its context. */
public abstract class TemplateServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  private final transient ServletPages pages;
  private final String template;

  /** Creates a servlet for one template. */
  protected TemplateServlet(PageRenderer pages, String template) {
    this.pages = new ServletPages(pages);
    this.template = template;
  }

  /** Returns the context of a request; null if the method has answered the request itself. */
  protected abstract Context model(HttpServletRequest request, HttpServletResponse response) throws IOException;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    Context context = model(request, response);
    if (context != null) {
      pages.send(request, response, template, context);
    }
  }

  @Override
  protected void doHead(HttpServletRequest request, HttpServletResponse response) throws IOException {
    doGet(request, response);
  }
}
