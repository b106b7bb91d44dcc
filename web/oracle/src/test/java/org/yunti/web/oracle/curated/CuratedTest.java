package org.yunti.web.oracle.curated;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Differential;

/** The cases in files of text, a file a theme. */
class CuratedTest {
  private static final List<String> THEMES = List.of(
      "references", "properties", "methods", "index", "set", "conditions", "foreach", "macros", "define", "parse", "literals", "strict",
      "gobbling", "escapes", "context");

  @TestFactory
  Stream<DynamicTest> themes() {
    return THEMES.stream().flatMap(theme -> cases(theme).stream()).map(c -> DynamicTest.dynamicTest(c.name(), () -> same(c)));
  }

  static void same(Case c) {
    Differential.ofCompiler().compare(c).ifPresent(difference -> Assertions.fail(difference.toString()));
  }

  static List<Case> cases(String theme) {
    try (InputStream in = CuratedTest.class.getResourceAsStream("/cases/" + theme + ".txt")) {
      return CaseFile.read(theme, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
