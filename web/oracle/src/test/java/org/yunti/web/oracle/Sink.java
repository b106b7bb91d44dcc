package org.yunti.web.oracle;

import org.apache.velocity.Template;
import org.apache.velocity.context.Context;

/** A way in which a caller takes a page. Stock Velocity and the compiler may have different ones that must give the same. */
public interface Sink {
  /** Renders; what the page threw is told, with what had come out before. */
  Page render(Template template, Context context);

  /** @param text characters, or bytes as the characters 0 to 255 */
  record Page(String text, Throwable thrown) {}
}
