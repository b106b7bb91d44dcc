package org.yunti.web.bench.engine;

import java.util.List;
import java.util.stream.Stream;
import org.yunti.web.bench.page.Pages;

/** Engines by their names in results, and the pages that each has a template of. */
public final class Engines {
  public static final String STOCK = "stock";
  public static final String OURS = "ours";
  /** Names of engines for Velocity's template, stock and compiled. */
  private static final List<String> VELOCITY = List.of(STOCK, "stock-bytes", OURS, "ours-writer");
  /** Names of engines with their own templates. */
  private static final List<String> OTHERS = List.of("freemarker", "jte", "jstachio", "rocker", "hand");

  private Engines() {}

  public static List<String> of(String page) {
    return Pages.EVERY_ENGINE.contains(page) ? Stream.concat(VELOCITY.stream(), OTHERS.stream()).toList() : VELOCITY;
  }

  /** Loads engine and template without rendering a page. It also knows {@link VariablesRenderer}. */
  public static Renderer renderer(String page, String engine) {
    return switch (engine) {
      case STOCK -> VelocityRenderer.characters(page, false);
      case "stock-bytes" -> VelocityRenderer.bytes(page, false);
      case OURS -> VelocityRenderer.bytes(page, true);
      case "ours-writer" -> VelocityRenderer.characters(page, true);
      case "freemarker" -> FreemarkerRenderer.of(page);
      case "jte" -> BuildTimeRenderers.jte(page);
      case "jstachio" -> BuildTimeRenderers.jstachio(page);
      case "rocker" -> BuildTimeRenderers.rocker(page);
      case "hand" -> HandRenderer.of(page);
      case "variables" -> VariablesRenderer.of(page);
      default -> throw new IllegalArgumentException("no such engine: " + engine);
    };
  }
}
