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

/** Renders each page by each engine and compares with stock Velocity; only engines that agree may be measured. A line of JSON a page. */
public final class OutputCheck {
  private OutputCheck() {}

  /**
   * How an engine's page compares with stock Velocity's.
   *
   * @param same "bytes", "squeezed" (but for white space), or "no"
   */
  public record Compared(String page, String engine, int bytes, String same) {
    String json() {
      return String.format(Locale.ROOT, "{\"page\": \"%s\", \"engine\": \"%s\", \"bytes\": %d, \"same\": \"%s\"}", page, engine, bytes,
          same);
    }
  }

  public static List<Compared> all() throws IOException {
    List<Compared> all = new ArrayList<>();
    for (String page : Pages.ALL) {
      byte[] stock = twice(page, Engines.STOCK);
      for (String engine : Engines.of(page)) {
        byte[] theirs = twice(page, engine);
        all.add(new Compared(page, engine, theirs.length,
            Arrays.equals(stock, theirs) ? "bytes" : squeezed(stock).equals(squeezed(theirs)) ? "squeezed" : "no"));
      }
    }
    return all;
  }

  /** The second page of a renderer, which must be as the first. */
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

  /** Without white space beside a tag, and with one space for each other run of it. */
  private static String squeezed(byte[] page) {
    return new String(page, StandardCharsets.UTF_8).replaceAll("\\s+", " ").replace("> ", ">").replace(" <", "<").trim();
  }

  /** How much of each page is compiled. */
  static String compiled(String page) {
    Explanation explanation = ((CompiledTemplate) VelocityRenderer.template(page, true)).explanation();
    return String.format(Locale.ROOT, "{\"page\": \"%s\", \"compiled_nodes\": %d, \"interpreted_nodes\": %d, \"bytecode_bytes\": %d}", page,
        explanation.compiledNodes(), explanation.interpretedNodes(), explanation.bytecodeBytes());
  }

  public static void main(String[] args) throws IOException {
    boolean isGood = true;
    for (Compared compared : all()) {
      System.out.println(compared.json());
      isGood &= !compared.same().equals("no");
    }
    for (String page : Pages.ALL) {
      System.out.println(compiled(page));
    }
    System.exit(isGood ? 0 : 1);
  }
}
