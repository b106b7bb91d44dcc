package org.yunti.web.spring;

import java.util.Locale;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.view.AbstractCachingViewResolver;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.servlet.ServletPages;

/**
 * Names of views are names of templates between a prefix and a suffix. A name without a template is left to the next resolver; so are
 * {@code redirect:} and {@code forward:}.
 */
public class TemplateViewResolver extends AbstractCachingViewResolver implements Ordered {
  private final ServletPages pages;
  private String prefix = "";
  private String suffix = ".vm";
  private String contentType;
  private String requestContextAttribute;
  private int order = Ordered.LOWEST_PRECEDENCE - 10;

  public TemplateViewResolver(PageRenderer pages) {
    this.pages = new ServletPages(pages);
  }

  public void setPrefix(String prefix) {
    this.prefix = prefix;
  }

  public void setSuffix(String suffix) {
    this.suffix = suffix;
  }

  /** Another type than {@code text/html} in the charset of the pages. */
  public void setContentType(String contentType) {
    this.contentType = contentType;
  }

  /** The name under which templates see Spring's RequestContext (messages, bind status, URLs); null: they do not. */
  public void setRequestContextAttribute(String name) {
    requestContextAttribute = name;
  }

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
    if (name.startsWith("redirect:") || name.startsWith("forward:") || !pages.renderer().engine().resourceExists(template)) {
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
