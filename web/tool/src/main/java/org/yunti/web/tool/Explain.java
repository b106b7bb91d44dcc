package org.yunti.web.tool;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.velocity.Template;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.VelocityException;
import org.yunti.web.shrink.json.JsonWriter;
import org.yunti.web.velocity.CompiledTemplate;
import org.yunti.web.velocity.compiler.Explanation;

/**
 * Command {@code explain TEMPLATE|DIR}: prints the compiled share of each template, and each interpreted part with
 * position and reason.
 */
final class Explain {
  private int compiled;
  private int interpreted;
  private int failed;
  private final List<Object> all = new ArrayList<>();

  private Explain() {}

  /**
   * Runs the command.
   *
   * @return 0; 1 if a template cannot be loaded
   */
  static int run(String[] words, PrintStream out) throws UsageException, IOException {
    Arguments arguments = new Arguments("explain", words, Set.of("properties", "charset", "suffix"), Set.of("json"));
    Path subject = arguments.subject("a template or a folder");
    Charset charset = arguments.charset();
    String suffix = arguments.get("suffix", ".vm");
    Path folder = Files.isDirectory(subject) ? subject : subject.toAbsolutePath().getParent();
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(subject)) {
      try (Stream<Path> files = Files.walk(subject)) {
        files.filter(f -> f.toString().endsWith(suffix) && Files.isRegularFile(f)).sorted()
            .forEach(f -> names.add(subject.relativize(f).toString().replace('\\', '/')));
      }
      if (names.isEmpty()) {
        throw new UsageException("explain: " + subject + " has no file whose name ends with " + suffix
            + "; name another ending with --suffix");
      }
    } else {
      names.add(subject.getFileName().toString());
    }
    VelocityEngine engine = Engines.of(folder, arguments.properties(), charset);
    Explain explain = new Explain();
    for (String name : names) {
      explain.template(engine, name, arguments.has("json") ? null : out);
    }
    if (arguments.has("json")) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("templates", explain.all);
      report.put("compiledNodes", explain.compiled);
      report.put("interpretedNodes", explain.interpreted);
      report.put("failed", explain.failed);
      out.print(JsonWriter.write(report));
    } else if (names.size() > 1) {
      out.println(names.size() + " templates: " + share(explain.compiled, explain.interpreted)
          + (explain.failed == 0 ? "" : "; " + explain.failed + " cannot be loaded"));
    }
    return explain.failed == 0 ? 0 : 1;
  }

  private static String share(int compiled, int interpreted) {
    int nodes = compiled + interpreted;
    // Rounds down, so that 100.0 % means all.
    double percent = nodes == 0 ? 100 : Math.floor(1_000.0 * compiled / nodes) / 10;
    return String.format(Locale.ROOT, "%d of %d nodes compiled (%.1f %%)", compiled, nodes, percent);
  }

  private void template(VelocityEngine engine, String name, PrintStream out) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("template", name);
    all.add(one);
    try {
      Template template = engine.getTemplate(name);
      explain(name, ((CompiledTemplate) template).explanation(), one, out);
    } catch (VelocityException e) {
      failed++;
      one.put("error", Engines.oneLine(e));
      if (out != null) {
        out.println(name + ": cannot be loaded: " + Engines.oneLine(e));
      }
    }
  }

  private void explain(String name, Explanation explanation, Map<String, Object> one, PrintStream out) {
    compiled += explanation.compiledNodes();
    interpreted += explanation.interpretedNodes();
    one.put("compiledNodes", explanation.compiledNodes());
    one.put("interpretedNodes", explanation.interpretedNodes());
    one.put("bytecodeBytes", explanation.bytecodeBytes());
    one.put("wholeReason", explanation.wholeReason());
    List<Object> nodes = new ArrayList<>();
    for (Explanation.Interpreted node : explanation.interpreted()) {
      Map<String, Object> place = new LinkedHashMap<>();
      place.put("line", node.line());
      place.put("column", node.column());
      place.put("source", node.literal());
      place.put("reason", node.reason());
      nodes.add(place);
    }
    one.put("interpreted", nodes);
    if (out == null) {
      return;
    }
    out.println(name + ": " + share(explanation.compiledNodes(), explanation.interpretedNodes()) + ", "
        + explanation.bytecodeBytes()
        + " bytes of bytecode");
    if (explanation.wholeReason() != null) {
      out.println("  interpreted as a whole: " + explanation.wholeReason());
    }
    for (Explanation.Interpreted node : explanation.interpreted()) {
      String source = node.literal().strip().split("\\R", 2)[0];
      out.println("  " + name + ":" + node.line() + ":" + node.column() + ": " + node.reason()
          + (source.isEmpty() ? "" : ": " + source.substring(0, Math.min(60, source.length()))));
    }
  }
}
