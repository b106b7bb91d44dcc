package org.yunti.web.page;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.context.Context;
import org.yunti.web.velocity.output.ByteWriter;

/** Templates of an engine as bytes. Safe for many threads; the engine is initialised before. */
public final class PageRenderer {
  private final VelocityEngine engine;
  private final BufferPool buffers;

  /** What is done with a page that is whole. */
  public interface Use {
    /** @param page its bytes are valid until the method returns */
    void accept(ByteWriter page) throws IOException;
  }

  public PageRenderer(VelocityEngine engine, Charset charset) {
    this.engine = engine;
    buffers = new BufferPool(charset);
  }

  public PageRenderer(VelocityEngine engine) {
    this(engine, StandardCharsets.UTF_8);
  }

  public Charset charset() {
    return buffers.charset();
  }

  public VelocityEngine engine() {
    return engine;
  }

  /**
   * Renders a whole page, and only then lets it be used: an exception of the template comes before the first byte.
   *
   * @throws org.apache.velocity.exception.VelocityException as the template throws it
   */
  public void whole(String template, Context context, Use use) throws IOException {
    ByteWriter buffer = buffers.take();
    engine.getTemplate(template).merge(context, buffer);
    buffer.close();
    use.accept(buffer);
    buffers.give(buffer);
  }

  /** Renders to a stream while the page is made. The stream is neither flushed nor closed. */
  public void streamed(String template, Context context, OutputStream out) throws IOException {
    ByteWriter writer = ByteWriter.to(new Unclosed(out), buffers.charset());
    engine.getTemplate(template).merge(context, writer);
    writer.close();
  }

  /** A stream whose end is its owner's affair. */
  private static final class Unclosed extends OutputStream {
    private final OutputStream out;

    Unclosed(OutputStream out) {
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
