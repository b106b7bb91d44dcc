package org.yunti.web.oracle;

import org.apache.velocity.Template;
import org.apache.velocity.context.Context;

/** Output of a page. Stock Velocity and the compiler may have different sinks, which must give the same output. */
public interface Sink {
  /** Renders a page; the result has the exception and the output before it. */
  Page render(Template template, Context context);

  /**
   * Result of a render.
   *
   * @param text characters, or bytes as the characters 0 to 255
   * @param thrown the exception, or null
   */
  record Page(String text, Throwable thrown) {}
}
