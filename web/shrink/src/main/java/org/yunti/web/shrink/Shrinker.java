package org.yunti.web.shrink;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.RuntimeInstance;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.yunti.web.delivery.AsyncBlock;
import org.yunti.web.delivery.ClientValue;
import org.yunti.web.shrink.html.Places;
import org.yunti.web.shrink.html.WhiteSpace;
import org.yunti.web.shrink.pass.ClientLoops;
import org.yunti.web.shrink.pass.Sameness;
import org.yunti.web.shrink.pass.TemplateWalk;
import org.yunti.web.shrink.vtl.ShrinkException;
import org.yunti.web.shrink.vtl.VtlSource;

/**
 * Shrinker of a folder of templates. It needs all templates, because the places of use decide what a template may lose:
 *
 * <pre>
 *   source -> Velocity's parser -> walk, until the places of all parts are known (Places)
 *                               -> walk and squeeze -> parse again -> compare without blanks (Sameness)
 *                               -> convert marked loops
 * </pre>
 */
public final class Shrinker {
  private static final int ROUNDS_MAX = 12;

  private final ShrinkOptions options;
  private final RuntimeInstance engine;

  /** Creates a shrinker. */
  public Shrinker(ShrinkOptions options) {
    this.options = options;
    engine = engine(options.properties());
  }

  /** Returns an engine that parses as the application's own, and loads nothing. */
  private static RuntimeInstance engine(Properties properties) {
    RuntimeInstance engine = new RuntimeInstance();
    Properties own = new Properties();
    properties.stringPropertyNames().stream().filter(key -> !key.contains("resource") && !key.contains("library"))
        .forEach(key -> own.setProperty(key, properties.getProperty(key)));
    engine.setProperties(own);
    // The parser knows from the directive whether a block has an #end.
    engine.addProperty(RuntimeConstants.CUSTOM_DIRECTIVES, AsyncBlock.class.getName());
    engine.addProperty(RuntimeConstants.CUSTOM_DIRECTIVES, ClientValue.class.getName());
    engine.setProperty(RuntimeConstants.RESOURCE_LOADERS, "string");
    engine.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    engine.init();
    return engine;
  }

  /**
   * Shrinks templates.
   *
   * @param sources sources of the templates by the names that {@code #parse} uses
   * @return the templates in the same order; a template that cannot be shrunk is unchanged, with a note
   */
  public List<ShrunkTemplate> shrink(Map<String, String> sources) {
    Map<String, List<String>> notes = new LinkedHashMap<>();
    Map<String, VtlSource> parsed = new LinkedHashMap<>();
    sources.forEach((name, source) -> {
      notes.put(name, new ArrayList<>());
      if (options.squeezesWhiteSpace() || options.expandsLoops()) {
        try {
          parsed.put(name, VtlSource.parse(engine, name, source));
        } catch (ShrinkException e) {
          notes.get(name).add(e.getMessage());
        }
      }
    });
    Places places = new Places();
    boolean isKnown = settle(parsed, places);
    List<ShrunkTemplate> shrunk = new ArrayList<>();
    sources.forEach((name, source) -> {
      List<String> templateNotes = notes.get(name);
      String squeezed = source;
      if (options.squeezesWhiteSpace() && parsed.containsKey(name)) {
        squeezed = isKnown ? squeezed(name, source, places, templateNotes) : source;
        if (!isKnown) {
          templateNotes.add(name + ": unchanged, because the templates use each other in too many ways");
        }
      }
      String after = squeezed;
      int loops = 0;
      if (options.expandsLoops() && parsed.containsKey(name)) {
        try {
          ClientLoops converted = new ClientLoops(engine, name, squeezed, places);
          after = converted.text();
          loops = converted.count();
          templateNotes.addAll(converted.notes());
        } catch (ShrinkException e) {
          templateNotes.add(e.getMessage());
        }
      }
      shrunk.add(new ShrunkTemplate(name, source, squeezed, after, loops, List.copyOf(templateNotes)));
    });
    return shrunk;
  }

  /** Walks all templates until no new place is found. */
  private boolean settle(Map<String, VtlSource> parsed, Places places) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      parsed.forEach((name, source) -> new TemplateWalk(places, whiteSpace(false), false)
          .template(name, source.root()));
      if (!places.change()) {
        return true;
      }
    }
    return false;
  }

  private WhiteSpace whiteSpace(boolean isCareful) {
    return new WhiteSpace(options.squeezesBlocks(), isCareful, engine.getSpaceGobbling());
  }

  /** Squeezes all blanks first. If Velocity would read the result differently, squeezes only inside of text. */
  private String squeezed(String name, String source, Places places, List<String> notes) {
    String difference = "";
    for (boolean isCareful : new boolean[] {false, true}) {
      try {
        VtlSource edited = VtlSource.parse(engine, name, source);
        if (!isCareful && edited.hidesText()) {
          continue;
        }
        List<String> before = Sameness.of(edited.root());
        // Loops are known by their nodes, which differ now: the walk reaches the same result again.
        Places own = places.forTemplate();
        Node root = edited.root();
        int rounds = 0;
        do {
          new TemplateWalk(own, whiteSpace(isCareful), false).template(name, root);
        } while (own.change() && ++rounds < ROUNDS_MAX);
        new TemplateWalk(own, whiteSpace(isCareful), true).template(name, root);
        String text = edited.text();
        List<String> after = Sameness.of(VtlSource.parse(engine, name, text).root());
        if (rounds < ROUNDS_MAX && before.equals(after)) {
          return text;
        }
        difference = first(before, after);
      } catch (ShrinkException e) {
        difference = e.getMessage();
      }
    }
    notes.add(name + ": unchanged, because Velocity would read it differently without its blanks, near \"" + difference
        + "\"");
    return source;
  }

  private static String first(List<String> before, List<String> after) {
    for (int i = 0; i < Math.min(before.size(), after.size()); i++) {
      if (!before.get(i).equals(after.get(i))) {
        String at = before.get(i).strip();
        return at.substring(0, Math.min(40, at.length()));
      }
    }
    return "the end";
  }
}
