package org.yunti.web.oracle;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.Template;
import org.apache.velocity.context.Context;
import org.yunti.web.velocity.output.ByteWriter;

/** Sinks of this suite, in pairs: stock Velocity's, and the one that must give the same. */
public enum Sinks {
  /** Plain writer, which keeps unpaired surrogates. */
  WRITER(Sinks::toWriter, Sinks::toWriter),
  /**
   * Java's encoder behind a writer: it joins a surrogate pair that comes in two pieces, and writes `?` for half a pair.
   */
  UTF_8(StandardCharsets.UTF_8),
  LATIN_1(StandardCharsets.ISO_8859_1);

  private final Sink stock;
  private final Sink compiled;

  Sinks(Sink stock, Sink compiled) {
    this.stock = stock;
    this.compiled = compiled;
  }

  Sinks(Charset charset) {
    this((template, context) -> toBytes(template, context, charset), (template, context) ->
        compiled(template, context, charset));
  }

  public Sink of(boolean isStock) {
    return isStock ? stock : compiled;
  }

  private static Sink.Page toWriter(Template template, Context context) {
    Writer writer = new StringWriter();
    Throwable thrown = merge(template, context, writer);
    return new Sink.Page(writer.toString(), thrown);
  }

  private static Sink.Page toBytes(Template template, Context context, Charset charset) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Throwable thrown;
    try (Writer writer = new OutputStreamWriter(bytes, charset)) {
      thrown = merge(template, context, writer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Sink.Page(bytes.toString(StandardCharsets.ISO_8859_1), thrown);
  }

  /** Renders with the compiler's byte sink; a stock template uses it as a writer. */
  private static Sink.Page compiled(Template template, Context context, Charset charset) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Throwable thrown;
    try (ByteWriter writer = ByteWriter.to(bytes, charset)) {
      thrown = merge(template, context, writer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Sink.Page(bytes.toString(StandardCharsets.ISO_8859_1), thrown);
  }

  private static Throwable merge(Template template, Context context, Writer writer) {
    try {
      template.merge(context, writer);
      return null;
    } catch (RuntimeException | Error e) {
      return e;
    }
  }
}
