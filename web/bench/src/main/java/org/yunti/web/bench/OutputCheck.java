package org.yunti.web.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.yunti.web.bench.engine.Engines;
import org.yunti.web.bench.engine.Renderer;
import org.yunti.web.bench.engine.VelocityRenderer;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.velocity.CompiledTemplate;
import org.yunti.web.velocity.compiler.Explanation;

/**
 * Check of each page by each engine against stock Velocity; only engines that agree may be measured. Prints one line of
 * JSON per page.
 */
public final class OutputCheck {
  private OutputCheck() {}

  /**
   * Comparison of an engine's page with stock Velocity's.
   *
   * @param page name of the page
   * @param engine name of the engine
   * @param bytes bytes of the page
   * @param same "bytes", "squeezed" (equal except white space), or "no"
   */
  public record Comparison(String page, String engine, int bytes, String same) {
    String json() {
      return String.format(Locale.ROOT, "{\"page\": \"%s\", \"engine\": \"%s\", \"bytes\": %d, \"same\": \"%s\"}", page,
          engine, bytes, same);
    }
  }

  public static List<Comparison> all() throws IOException {
    List<Comparison> all = new ArrayList<>();
    for (String page : Pages.ALL) {
      byte[] stock = twice(page, Engines.STOCK);
      for (String engine : Engines.of(page)) {
        byte[] theirs = twice(page, engine);
        all.add(new Comparison(page, engine, theirs.length,
            Arrays.equals(stock, theirs) ? "bytes" : squeezed(stock).equals(squeezed(theirs)) ? "squeezed" : "no"));
      }
    }
    return all;
  }

  /** Returns the second page of a renderer, which must equal the first. */
  static byte[] twice(String page, String engine) throws IOException {
    Renderer renderer = Engines.renderer(page, engine);
    ByteArrayOutputStream first = new ByteArrayOutputStream();
    ByteArrayOutputStream second = new ByteArrayOutputStream();
    renderer.render(first);
    renderer.render(second);
    if (!Arrays.equals(first.toByteArray(), second.toByteArray())) {
      throw new IllegalStateException(engine + " renders " + page + " differently the second time");
    }
    return second.toByteArray();
  }

  /** Returns a page without white space beside tags, and with one space for each other run. */
  private static String squeezed(byte[] page) {
    return new String(page, StandardCharsets.UTF_8).replaceAll("\\s+", " ").replace("> ", ">").replace(" <", "<")
        .trim();
  }

  /** Returns the compiled share of a page. */
  static String compiled(String page) {
    Explanation explanation = ((CompiledTemplate) VelocityRenderer.template(page, true)).explanation();
    return String.format(Locale.ROOT,
        "{\"page\": \"%s\", \"compiled_nodes\": %d, \"interpreted_nodes\": %d, \"bytecode_bytes\": %d}", page,
        explanation.compiledNodes(), explanation.interpretedNodes(), explanation.bytecodeBytes());
  }

  public static void main(String[] args) throws IOException {
    boolean isGood = true;
    for (Comparison compared : all()) {
      System.out.println(compared.json());
      isGood &= !compared.same().equals("no");
    }
    for (String page : Pages.ALL) {
      System.out.println(compiled(page));
    }
    System.exit(isGood ? 0 : 1);
  }
}
