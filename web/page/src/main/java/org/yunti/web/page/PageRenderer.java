package org.yunti.web.page;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.context.Context;
import org.yunti.web.velocity.output.ByteWriter;

/** Renderer of an engine's templates to bytes. Thread-safe. Initialise the engine first. */
public final class PageRenderer {
  private final VelocityEngine engine;
  private final BufferPool buffers;

  /** Consumer of a finished page. */
  public interface Use {
    /**
     * Consumes a page.
     *
     * @param page the page; its bytes are valid until the method returns
     */
    void accept(ByteWriter page) throws IOException;
  }

  /** Creates a renderer of pages in a charset. */
  public PageRenderer(VelocityEngine engine, Charset charset) {
    this.engine = engine;
    buffers = new BufferPool(charset);
  }

  /** Creates a renderer of pages in UTF-8. */
  public PageRenderer(VelocityEngine engine) {
    this(engine, StandardCharsets.UTF_8);
  }

  /** Returns the charset of the pages. */
  public Charset charset() {
    return buffers.charset();
  }

  /** Returns the engine. */
  public VelocityEngine engine() {
    return engine;
  }

  /**
   * Renders a whole page and then passes it to {@code use}: an exception of the template comes before the first byte.
   *
   * @throws org.apache.velocity.exception.VelocityException if the template is missing or fails
   */
  public void whole(String template, Context context, Use use) throws IOException {
    ByteWriter buffer = buffers.take();
    engine.getTemplate(template).merge(context, buffer);
    buffer.close();
    use.accept(buffer);
    buffers.give(buffer);
  }

  /**
   * Renders to a stream as the page is made. The stream is neither flushed nor closed.
   *
   * @throws org.apache.velocity.exception.VelocityException if the template is missing or fails; part of the page may
   *     be written
   */
  public void streamed(String template, Context context, OutputStream out) throws IOException {
    ByteWriter writer = ByteWriter.to(new KeepOpenStream(out), buffers.charset());
    engine.getTemplate(template).merge(context, writer);
    writer.close();
  }

  /** Stream that its owner closes. */
  private static final class KeepOpenStream extends OutputStream {
    private final OutputStream out;

    KeepOpenStream(OutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      out.write(b);
    }

    @Override
    public void write(byte[] b, int offset, int length) throws IOException {
      out.write(b, offset, length);
    }

    @Override
    public void close() {}
  }
}
