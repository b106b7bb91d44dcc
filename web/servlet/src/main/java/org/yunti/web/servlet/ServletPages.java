package org.yunti.web.servlet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.velocity.context.Context;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * Pages sent as bytes to a response's output stream; its writer would encode every page again.
 *
 * <p>{@link #send} renders the page whole first, so it has its length. An exception of the template comes before the
 * response begins, and the container shows its error page. {@link #stream} sends the page as it is rendered.
 */
public final class ServletPages {
  private final PageRenderer pages;

  /** Creates an adapter for a renderer. */
  public ServletPages(PageRenderer pages) {
    this.pages = pages;
  }

  /** Returns the renderer. */
  public PageRenderer renderer() {
    return pages;
  }

  /**
   * Sends the whole page with its length. Sets the content type text/html unless the response has one, and the charset
   * of the pages.
   */
  public void send(HttpServletRequest request, HttpServletResponse response, String template, Context context)
      throws IOException {
    pages.whole(template, context, page -> send(request, response, page));
  }

  /** Sends a finished page with its length; the content type is set as by the other method. */
  public void send(HttpServletRequest request, HttpServletResponse response, ByteWriter page) throws IOException {
    setContentType(response);
    response.setContentLength(page.size());
    if (!isHead(request)) {
      page.writeTo(response.getOutputStream());
    }
  }

  /** Sends the page in pieces, for large or slow pages: an error after the first piece leaves half a page. */
  public void stream(HttpServletRequest request, HttpServletResponse response, String template, Context context)
      throws IOException {
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
    // The bytes have this charset, whatever the content type states.
    response.setCharacterEncoding(pages.charset().name());
  }
}
