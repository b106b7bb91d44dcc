package org.yunti.web.tool;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Set;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.exception.VelocityException;
import org.yunti.web.shrink.vtl.ShrinkException;
import org.yunti.web.velocity.output.ByteWriter;

/** Command {@code render TEMPLATE --json MODEL}: prints the whole page, or nothing if it fails. */
final class Render {
  private Render() {}

  static int run(String[] words, PrintStream out) throws UsageException, IOException, ShrinkException {
    Arguments arguments = new Arguments("render", words, Set.of("properties", "charset", "json", "root"), Set.of());
    Path template = arguments.subject("a template");
    Charset charset = arguments.charset();
    Path root = arguments.has("root") ? Path.of(arguments.get("root")) : template.toAbsolutePath().getParent();
    Path absolute = template.toAbsolutePath().normalize();
    if (!absolute.startsWith(root.toAbsolutePath().normalize())) {
      throw new UsageException("render: " + template + " is not below --root " + root);
    }
    String name = root.toAbsolutePath().normalize().relativize(absolute).toString().replace('\\', '/');
    VelocityContext model = arguments.has("json") ? new VelocityContext(Models.read(arguments.get("json")))
        : new VelocityContext();
    ByteWriter page = ByteWriter.buffer(charset);
    try {
      Engines.of(root, arguments.properties(), charset).getTemplate(name).merge(model, page);
    } catch (VelocityException e) {
      throw new ShrinkException("render: " + template + ": " + Engines.oneLine(e));
    }
    page.close();
    page.writeTo(out);
    return 0;
  }
}
