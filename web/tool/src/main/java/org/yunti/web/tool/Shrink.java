package org.yunti.web.tool;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Set;
import org.yunti.web.shrink.ShrinkOptions;
import org.yunti.web.shrink.Shrinker;
import org.yunti.web.shrink.TemplateFolder;
import org.yunti.web.shrink.json.JsonWriter;
import org.yunti.web.shrink.report.ShrinkReport;
import org.yunti.web.shrink.vtl.ShrinkException;

/** Command {@code shrink DIR --output DIR}: writes smaller templates. */
final class Shrink {
  /** Milliseconds of CPU time for one measurement with a model. */
  private static final long MILLIS = 2_000;

  private Shrink() {}

  static int run(String[] words, PrintStream out) throws UsageException, IOException, ShrinkException {
    Arguments arguments = new Arguments("shrink", words, Set.of("output", "properties", "charset", "suffix", "model",
        "template"), Set.of("keep-white-space", "blocks", "client-loops", "json"));
    Path folder = arguments.subject("a folder of templates");
    Path output = Path.of(arguments.required("output", "DIR"));
    if (arguments.has("model") != arguments.has("template")) {
      throw new UsageException("shrink: --model FILE needs --template NAME, and the reverse: "
          + "name the template to render with the model");
    }
    if (arguments.has("keep-white-space") && arguments.has("blocks")) {
      throw new UsageException("shrink: --keep-white-space and --blocks exclude each other: use one");
    }
    ShrinkOptions options = ShrinkOptions.none().whiteSpace(!arguments.has("keep-white-space"))
        .charset(arguments.charset())
        .suffix(arguments.get("suffix", ".vm")).properties(arguments.properties())
        .clientLoops(arguments.has("client-loops"));
    options = arguments.has("blocks") ? options.blocks(true) : options;
    TemplateFolder templates = new TemplateFolder(folder, options);
    var shrunk = new Shrinker(options).shrink(templates.sources());
    ShrinkReport report = new ShrinkReport(shrunk);
    if (arguments.has("model")) {
      report.measure(arguments.get("template"), Models.read(arguments.get("model")), options.properties(), MILLIS);
    }
    templates.write(output, shrunk);
    if (arguments.has("json")) {
      out.print(JsonWriter.write(report.json()));
    } else {
      report.lines().forEach(out::println);
    }
    return 0;
  }
}
