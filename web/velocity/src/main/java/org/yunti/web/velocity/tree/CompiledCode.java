package org.yunti.web.velocity.tree;

import java.io.IOException;
import java.io.Writer;
import org.apache.velocity.context.InternalContextAdapter;

/** What the hidden class of a template extends: its pieces by number. */
public abstract class CompiledCode {
  protected CompiledCode() {}

  /** Renders a piece. */
  protected abstract void render(int piece, InternalContextAdapter context, Writer out) throws IOException;

  /** The value of a piece that is an expression. */
  protected abstract Object value(int piece, InternalContextAdapter context) throws IOException;
}
