package org.yunti.web.oracle.model;

import java.io.IOException;
import java.io.Writer;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.Renderable;
import org.yunti.web.oracle.Journal;

/** Value that writes itself, or reports that it did not. */
public final class Rendered implements Renderable {
  private final boolean done;

  public Rendered(boolean done) {
    this.done = done;
  }

  @Override
  public boolean render(InternalContextAdapter context, Writer writer) throws IOException {
    Journal.note("render");
    writer.write("<rendered in " + context.getCurrentTemplateName() + ">");
    return done;
  }

  @Override
  public String toString() {
    return "rendered as text";
  }
}
