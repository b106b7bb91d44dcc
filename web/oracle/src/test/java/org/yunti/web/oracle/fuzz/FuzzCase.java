package org.yunti.web.oracle.fuzz;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.velocity.context.Context;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.curated.Directives;
import org.yunti.web.oracle.curated.EventHandlers;
import org.yunti.web.oracle.model.Color;
import org.yunti.web.oracle.model.Duck;
import org.yunti.web.oracle.model.Model;
import org.yunti.web.oracle.model.Person;
import org.yunti.web.oracle.model.Robot;

/** Case of a seed: templates, properties and contexts. */
final class FuzzCase {
  private static final Map<String, List<String>> PROPERTIES = new LinkedHashMap<>();

  static {
    PROPERTIES.put("parser.space_gobbling", List.of("none", "bc", "lines", "structured"));
    PROPERTIES.put("runtime.strict_mode.enable", List.of("true", "false"));
    PROPERTIES.put("runtime.strict_mode.escape", List.of("true"));
    PROPERTIES.put("runtime.strict_math", List.of("true"));
    PROPERTIES.put("directive.if.empty_check", List.of("false"));
    PROPERTIES.put("directive.foreach.skip_invalid", List.of("false"));
    PROPERTIES.put("velocimacro.enable_bc_mode", List.of("true"));
    PROPERTIES.put("velocimacro.arguments.strict", List.of("true"));
    PROPERTIES.put("velocimacro.inline.local_scope", List.of("true"));
    PROPERTIES.put("velocimacro.inline.replace_global", List.of("true"));
    PROPERTIES.put("velocimacro.inline.allow", List.of("false"));
    PROPERTIES.put("velocimacro.max_depth", List.of("3"));
    PROPERTIES.put("context.scope_control.macro", List.of("true"));
    PROPERTIES.put("context.scope_control.template", List.of("true"));
    PROPERTIES.put("context.scope_control.define", List.of("true"));
    PROPERTIES.put("context.scope_control.evaluate", List.of("true"));
    PROPERTIES.put("context.scope_control.foreach", List.of("false"));
    PROPERTIES.put("context.scope_control.m0", List.of("true"));
    PROPERTIES.put("runtime.log.track_location", List.of("true"));
    PROPERTIES.put("runtime.log.log_invalid_references", List.of("false"));
    PROPERTIES.put("runtime.log.log_invalid_method_calls", List.of("false"));
    PROPERTIES.put("runtime.interpolate_string_literals", List.of("false"));
    PROPERTIES.put("runtime.string_interning", List.of("false"));
    PROPERTIES.put("parser.allow_hyphen_in_identifiers", List.of("true"));
    PROPERTIES.put("directive.define.max_depth", List.of("4"));
    PROPERTIES.put("event_handler.invalid_references.quiet", List.of("true"));
    PROPERTIES.put("event_handler.invalid_references.null", List.of("true"));
    PROPERTIES.put("event_handler.invalid_references.tested", List.of("true"));
    for (String kind : EventHandlers.KINDS) {
      PROPERTIES.put(EventHandlers.property(kind), List.of(EventHandlers.classes(kind)));
    }
    PROPERTIES.put("introspector.uberspect.class", List.of("org.apache.velocity.util.introspection.SecureUberspector"));
  }

  private static final String DIRECTIVES = Stream.of(Directives.Show.class, Directives.Upper.class,
      Directives.Fill.class)
      .map(Class::getName).collect(Collectors.joining(","));

  private FuzzCase() {}

  static Case of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Case c = new Case("seed " + seed);
    Grammar grammar = new Grammar(random);
    List<String> parts = new ArrayList<>();
    c.main("");
    for (int n = random.nextInt(3); n > 0; n--) {
      c.template("part" + n + ".vm", grammar.template(6, parts));
      parts.add("part" + n + ".vm");
    }
    c.main(grammar.template(4 + random.nextInt(28), parts));
    c.property("directive.foreach.max_loops", random.nextInt(10) == 0 ? "2" : "12")
        .property("runtime.custom_directives", DIRECTIVES);
    if (random.nextInt(4) == 0) {
      c.template("velocimacros.vtl", "#macro(lib $a)[lib $a $!bodyContent]#end\n#macro(lib2)\n  lib2 $s\n#end\n");
    }
    PROPERTIES.forEach((key, values) -> {
      if (random.nextInt(key.startsWith("parser.space") ? 2 : 14) == 0) {
        c.property(key, values.get(random.nextInt(values.size())));
      }
    });
    boolean events = random.nextInt(10) == 0;
    int first = random.nextInt(Model.KINDS);
    for (int page = 0; page < 3; page++) {
      int kind = page == 2 ? first : (first + page) % Model.KINDS;
      long values = page == 2 ? random.nextInt(3) == 0 ? seed + 1 : seed : seed + page;
      c.page(() -> context(kind, values, events), Sinks.values()[page]);
    }
    if (random.nextInt(3) == 0) {
      c.page(null, Sinks.WRITER);
    }
    return c;
  }

  private static Context context(int kind, long seed, boolean events) {
    SplittableRandom random = new SplittableRandom(seed);
    Context context = Model.context(kind);
    for (String name : Grammar.ASSIGNED) {
      if (random.nextInt(3) > 0) {
        context.put(name, value(random, kind));
      }
    }
    context.put("wild", wild(random));
    if (events) {
      EventHandlers.attach(context, EventHandlers.KINDS.get(random.nextInt(EventHandlers.KINDS.size())));
    }
    return context;
  }

  private static Object value(SplittableRandom random, int kind) {
    return switch (random.nextInt(18)) {
      case 0 -> null;
      case 1 -> random.nextInt(7) - 3;
      case 2 -> (long) random.nextInt(7);
      case 3 -> random.nextInt(5) / 2.0;
      case 4 -> new BigDecimal("1.20");
      case 5 -> BigInteger.valueOf(Long.MAX_VALUE).add(BigInteger.ONE);
      case 6 -> "value" + random.nextInt(3);
      case 7 -> wild(random);
      case 8 -> new ArrayList<>(Arrays.asList(1, null, "three"));
      case 9 -> new int[] {4, 5};
      case 10 -> new LinkedHashMap<>(Map.of("name", "of a map"));
      case 11 -> kind == 1 ? new Robot("Rob") : new Person("Per");
      case 12 -> random.nextInt(2) == 0;
      case 13 -> Color.GREEN;
      case 14 -> new Duck.Text("duck");
      case 15 -> new StringBuilder("builder");
      case 16 -> new Duck.Sized(random.nextInt(2));
      default -> (byte) random.nextInt(100);
    };
  }

  /** Generates text of any characters: halves of pairs, controls, wide characters. */
  private static String wild(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    for (int n = random.nextInt(12); n > 0; n--) {
      switch (random.nextInt(6)) {
        case 0 -> text.append((char) random.nextInt(0x20));
        case 1 -> text.append((char) (0xD800 + random.nextInt(0x800)));
        case 2 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
        case 3 -> text.append((char) random.nextInt(0x10000));
        default -> text.append((char) (0x20 + random.nextInt(0x5F)));
      }
    }
    return text.toString();
  }
}
