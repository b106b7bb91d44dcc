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

/**
 * Makes the templates of a folder smaller. They are looked at together, since what one of them may lose depends on where others use it:
 *
 * <pre>
 *   source -> Velocity's parser -> walk, until it is known where each part is used (Places)
 *                               -> walk and squeeze -> parse again -> the same but for blanks? (Sameness) -> marked loops turned
 * </pre>
 */
public final class Shrinker {
  private static final int ROUNDS_MAX = 12;

  private final ShrinkOptions options;
  private final RuntimeInstance engine;

  public Shrinker(ShrinkOptions options) {
    this.options = options;
    engine = engine(options.properties());
  }

  /** An engine that parses as the application's own, and loads nothing. */
  private static RuntimeInstance engine(Properties properties) {
    RuntimeInstance engine = new RuntimeInstance();
    Properties own = new Properties();
    properties.stringPropertyNames().stream().filter(key -> !key.contains("resource") && !key.contains("library"))
        .forEach(key -> own.setProperty(key, properties.getProperty(key)));
    engine.setProperties(own);
    // Whether a block has an #end is known by its directive alone.
    engine.addProperty(RuntimeConstants.CUSTOM_DIRECTIVES, AsyncBlock.class.getName());
    engine.addProperty(RuntimeConstants.CUSTOM_DIRECTIVES, ClientValue.class.getName());
    engine.setProperty(RuntimeConstants.RESOURCE_LOADERS, "string");
    engine.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    engine.init();
    return engine;
  }

  /**
   * @param sources of the templates by their names, which are what {@code #parse} calls them
   * @return in the same order
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
      List<String> said = notes.get(name);
      String squeezed = source;
      if (options.squeezesWhiteSpace() && parsed.containsKey(name)) {
        squeezed = isKnown ? squeezed(name, source, places, said) : source;
        if (!isKnown) {
          said.add(name + ": left as it is, the templates use each other in too many ways");
        }
      }
      String after = squeezed;
      int loops = 0;
      if (options.expandsLoops() && parsed.containsKey(name)) {
        try {
          ClientLoops turned = new ClientLoops(engine, name, squeezed, places);
          after = turned.text();
          loops = turned.count();
          said.addAll(turned.notes());
        } catch (ShrinkException e) {
          said.add(e.getMessage());
        }
      }
      shrunk.add(new ShrunkTemplate(name, source, squeezed, after, loops, List.copyOf(said)));
    });
    return shrunk;
  }

  /** Walks all templates until nothing new is learnt of where their parts are used. */
  private boolean settle(Map<String, VtlSource> parsed, Places places) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      parsed.forEach((name, source) -> new TemplateWalk(places, whiteSpace(false), false).template(name, source.root()));
      if (!places.change()) {
        return true;
      }
    }
    return false;
  }

  private WhiteSpace whiteSpace(boolean isCareful) {
    return new WhiteSpace(options.squeezesBlocks(), isCareful, engine.getSpaceGobbling());
  }

  /** First with all that may go; where Velocity would read the result otherwise, only what is in the middle of text. */
  private String squeezed(String name, String source, Places places, List<String> notes) {
    String difference = "";
    for (boolean isCareful : new boolean[] {false, true}) {
      try {
        VtlSource edited = VtlSource.parse(engine, name, source);
        if (!isCareful && edited.hidesText()) {
          continue;
        }
        List<String> before = Sameness.of(edited.root());
        // Loops are known by their nodes, which are others now: the walk goes to the same end again.
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
    notes.add(name + ": left as it is, since without its blanks Velocity would read it otherwise, near \"" + difference + "\"");
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
