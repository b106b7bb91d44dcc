package org.yunti.web.velocity.tree;

import java.io.IOException;
import java.io.Writer;
import org.apache.velocity.context.InternalContextAdapter;

/** Base of the hidden class of a template: its pieces by number. */
public abstract class CompiledCode {
  /** Used by generated classes. */
  protected CompiledCode() {}

  /** Renders a piece. */
  protected abstract void render(int piece, InternalContextAdapter context, Writer out) throws IOException;

  /** Returns the value of a piece that is an expression. */
  protected abstract Object value(int piece, InternalContextAdapter context) throws IOException;
}
