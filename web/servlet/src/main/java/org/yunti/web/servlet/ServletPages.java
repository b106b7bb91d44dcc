package org.yunti.web.servlet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.velocity.context.Context;
import org.yunti.web.page.PageRenderer;

/**
 * Pages as the bytes of a response: its output stream is written, and not its writer, which would encode every page again.
 *
 * <p>{@link #send} makes the page whole first: it has its length, and an exception of the template leaves before the response has begun,
 * so that the container's error page takes its place. {@link #stream} sends while the page is made.
 */
public final class ServletPages {
  private final PageRenderer pages;

  public ServletPages(PageRenderer pages) {
    this.pages = pages;
  }

  public PageRenderer renderer() {
    return pages;
  }

  /** Sets the content type of the charset of the pages, unless the response has one, and sends the whole page. */
  public void send(HttpServletRequest request, HttpServletResponse response, String template, Context context) throws IOException {
    pages.whole(template, context, page -> {
      setContentType(response);
      response.setContentLength(page.size());
      if (!isHead(request)) {
        page.writeTo(response.getOutputStream());
      }
    });
  }

  /** The same in pieces, for pages that are large or slow: what fails behind the first of them leaves half a page. */
  public void stream(HttpServletRequest request, HttpServletResponse response, String template, Context context) throws IOException {
    setContentType(response);
    if (!isHead(request)) {
      pages.streamed(template, context, response.getOutputStream());
    }
  }

  private static boolean isHead(HttpServletRequest request) {
    return request.getMethod().equals("HEAD");
  }

  private void setContentType(HttpServletResponse response) {
    if (response.getContentType() == null) {
      response.setContentType("text/html");
    }
    // The bytes are in this charset, whatever the type has said.
    response.setCharacterEncoding(pages.charset().name());
  }
}
