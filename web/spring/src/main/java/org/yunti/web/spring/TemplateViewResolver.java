package org.yunti.web.spring;

import java.util.Locale;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.view.AbstractCachingViewResolver;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.servlet.ServletPages;

/**
 * View resolver that maps a view name to the template {@code prefix + name + suffix}. It leaves names without a
 * template, {@code redirect:} and {@code forward:} to the next resolver.
 */
public class TemplateViewResolver extends AbstractCachingViewResolver implements Ordered {
  private final ServletPages pages;
  private String prefix = "";
  private String suffix = ".vm";
  private String contentType;
  private String requestContextAttribute;
  private int order = Ordered.LOWEST_PRECEDENCE - 10;

  /** Creates a resolver for the templates of a renderer. */
  public TemplateViewResolver(PageRenderer pages) {
    this.pages = new ServletPages(pages);
  }

  /** Sets the prefix of template names; default: empty. */
  public void setPrefix(String prefix) {
    this.prefix = prefix;
  }

  /** Sets the suffix of template names; default: {@code .vm}. */
  public void setSuffix(String suffix) {
    this.suffix = suffix;
  }

  /** Sets the content type; default: {@code text/html} in the charset of the pages. */
  public void setContentType(String contentType) {
    this.contentType = contentType;
  }

  /** Sets the name of Spring's RequestContext (messages, bind status, URLs) in templates; null: it is not available. */
  public void setRequestContextAttribute(String name) {
    requestContextAttribute = name;
  }

  /** Sets the order among the resolvers; default: before Spring's last ones. */
  public void setOrder(int order) {
    this.order = order;
  }

  @Override
  public int getOrder() {
    return order;
  }

  @Override
  protected View loadView(String name, Locale locale) {
    String template = prefix + name + suffix;
    if (name.startsWith("redirect:") || name.startsWith("forward:") || !pages.renderer().engine()
        .resourceExists(template)) {
      return null;
    }
    TemplateView view = new TemplateView(pages, template);
    view.setBeanName(name);
    view.setApplicationContext(obtainApplicationContext());
    view.setRequestContextAttribute(requestContextAttribute);
    if (contentType != null) {
      view.setContentType(contentType);
    }
    return view;
  }
}
