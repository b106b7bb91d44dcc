package org.yunti.web.bench.engine;

import java.util.List;
import java.util.stream.Stream;
import org.yunti.web.bench.page.Pages;

/** The engines, by the names that results have, and which pages each has a template of. */
public final class Engines {
  public static final String STOCK = "stock";
  public static final String OURS = "ours";
  /** Velocity's template, by Velocity and by us. */
  private static final List<String> VELOCITY = List.of(STOCK, "stock-bytes", OURS, "ours-writer");
  /** A template of their own. */
  private static final List<String> OTHERS = List.of("freemarker", "jte", "jstachio", "rocker", "hand");

  private Engines() {}

  public static List<String> of(String page) {
    return Pages.EVERY_ENGINE.contains(page) ? Stream.concat(VELOCITY.stream(), OTHERS.stream()).toList() : VELOCITY;
  }

  /** Loads engine and template; the first page is still to be rendered. Besides the engines there is {@link VariablesRenderer}. */
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
