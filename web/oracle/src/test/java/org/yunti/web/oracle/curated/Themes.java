package org.yunti.web.oracle.curated;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.yunti.web.oracle.Case;

/** All cases written as text. */
public final class Themes {
  private static final List<String> NAMES = List.of(
      "references", "properties", "methods", "index", "set", "conditions", "foreach", "macros", "define", "parse",
      "literals", "strict", "gobbling", "escapes", "context");

  private Themes() {}

  public static List<Case> all() {
    return NAMES.stream().flatMap(theme -> of(theme).stream()).toList();
  }

  private static List<Case> of(String theme) {
    try (InputStream in = Themes.class.getResourceAsStream("/cases/" + theme + ".txt")) {
      return CaseFile.read(theme, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
