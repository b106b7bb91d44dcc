package org.yunti.web.oracle.artefacts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Difference;
import org.yunti.web.oracle.Differential;
import org.yunti.web.oracle.Outcome;
import org.yunti.web.oracle.Sinks;

/** Test of public templates: site skins, code generators, reports, forms, mails. */
class ArtefactsTest {
  private static final Path FOLDER = Path.of(System.getProperty("yunti.oracle.artefacts", "artefacts"));

  /**
   * Templates in all, at least. Artefacts differ: a site skin may have one template of fifty kilobytes, a generator two
   * hundred.
   */
  private static final int TEMPLATES_MIN = 400;

  private static final int ARTEFACTS_MIN = 15;

  @TestFactory
  Stream<DynamicTest> templates() {
    return artefacts().entrySet().stream().flatMap(artefact -> Stream.of(
        DynamicTest.dynamicTest(artefact.getKey() + " as it is", () -> same(artefact, false)),
        DynamicTest.dynamicTest(artefact.getKey() + " as of Velocity 1.7", () -> same(artefact, true))));
  }

  @Test
  void findsEnoughTemplates() {
    Map<String, Map<String, String>> artefacts = artefacts();
    assertTrue(artefacts.size() >= ARTEFACTS_MIN, artefacts.keySet().toString());
    int templates = 0;
    int parsed = 0;
    int ended = 0;
    for (Map.Entry<String, Map<String, String>> artefact : artefacts.entrySet()) {
      Case c = of(artefact, false);
      for (String name : artefact.getValue().keySet()) {
        c.page(name, () -> new AnyContext(Anything.Kind.MAPS), Sinks.WRITER, (engine, loader) -> {});
      }
      List<Outcome> outcomes = Differential.stock(c);
      templates += outcomes.size();
      parsed += (int) outcomes.stream().filter(o -> !o.thrown().contains("ParseErrorException")).count();
      ended += (int) outcomes.stream().filter(o -> o.thrown().isEmpty()).count();
    }
    System.out.printf("artefacts: %d, templates: %d, of which %d parse and %d render to the end%n", artefacts.size(),
        templates, parsed, ended);
    assertTrue(templates >= TEMPLATES_MIN);
    assertTrue(parsed >= templates * 9 / 10);
    assertTrue(ended >= templates * 7 / 10);
  }

  private static Case of(Map.Entry<String, Map<String, String>> artefact, boolean old) {
    Case c = new Case(artefact.getKey());
    artefact.getValue().forEach(c::template);
    c.property("directive.foreach.max_loops", "100");
    if (old) {
      c.property("parser.space_gobbling", "bc").property("parser.allow_hyphen_in_identifiers", "true");
      c.property("velocimacro.enable_bc_mode", "true").property("directive.if.empty_check", "false");
      c.property("context.scope_control.template", "true").property("context.scope_control.macro", "true");
      c.property("introspector.uberspect.class", AnyUberspect.class.getName());
    }
    return c;
  }

  private static void same(Map.Entry<String, Map<String, String>> artefact, boolean old) {
    Case c = of(artefact, old);
    for (String name : artefact.getValue().keySet()) {
      for (Anything.Kind kind : Anything.Kind.values()) {
        c.page(name, () -> new AnyContext(kind), Sinks.values()[kind.ordinal()], (engine, loader) -> {});
      }
    }
    Differential.ofCompiler().compare(c).map(Difference::toString).ifPresent(Assertions::fail);
  }

  private static Map<String, Map<String, String>> artefacts() {
    Map<String, Map<String, String>> artefacts = new TreeMap<>();
    try (Stream<Path> jars = Files.list(FOLDER)) {
      for (Path jar : jars.sorted(Comparator.naturalOrder()).toList()) {
        Map<String, String> templates = templates(jar);
        if (!templates.isEmpty()) {
          artefacts.put(jar.getFileName().toString(), templates);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return artefacts;
  }

  private static Map<String, String> templates(Path jar) throws IOException {
    Map<String, String> templates = new TreeMap<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : zip.stream().filter(e -> e.getName().matches(".*\\.(vm|vtl)")).toList()) {
        templates.put(entry.getName(), new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return templates;
  }
}
