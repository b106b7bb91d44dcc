package org.yunti.web.oracle.curated;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/**
 * File of cases as text, so that templates need no Java escapes:
 *
 * <pre>
 * == unique name of the case
 * : property = value, or | other | values, one case for each
 * the template, up to the next line that begins with two signs
 * @@ part.vm
 * another template of the case
 * </pre>
 *
 * <p>`== with property = value` alone sets a property for all cases below it; `== with` ends that. In templates the
 * pictures of controls (U+2400 and on) stand for the controls, `␠` for a space at the end of a line and `⏎` before the
 * end of a line for none there.
 */
final class CaseFile {
  private final List<Case> cases = new ArrayList<>();
  private final Map<String, List<String>> ofAll = new LinkedHashMap<>();
  private final String theme;

  private String name;
  private Map<String, List<String>> properties;
  private Map<String, StringBuilder> templates;
  private StringBuilder open;

  private CaseFile(String theme) {
    this.theme = theme;
  }

  static List<Case> read(String theme, String text) {
    CaseFile file = new CaseFile(theme);
    text.lines().forEach(file::line);
    file.end();
    return file.cases;
  }

  private void line(String line) {
    if (line.equals("== with")) {
      end();
      ofAll.clear();
    } else if (line.startsWith("== with ")) {
      end();
      property(ofAll, line.substring(8));
    } else if (line.startsWith("== ")) {
      end();
      name = line.substring(3).trim();
      properties = new LinkedHashMap<>(ofAll);
      templates = new LinkedHashMap<>();
      open = templates.computeIfAbsent(Case.MAIN, key -> new StringBuilder());
    } else if (name != null && line.startsWith("@@ ")) {
      open = templates.computeIfAbsent(line.substring(3).trim(), key -> new StringBuilder());
    } else if (name != null && line.startsWith(": ") && open.length() == 0 && templates.size() == 1) {
      property(properties, line.substring(2));
    } else if (name != null) {
      open.append(line).append('\n');
    }
  }

  private static void property(Map<String, List<String>> to, String line) {
    int at = line.indexOf('=');
    to.put(line.substring(0, at).trim(), List.of(line.substring(at + 1).trim().split("\\s+\\|\\s+")));
  }

  private void end() {
    if (name != null) {
      expand(new ArrayList<>(properties.entrySet()), 0, new LinkedHashMap<>());
    }
    name = null;
  }

  private void expand(List<Map.Entry<String, List<String>>> all, int at, Map<String, String> chosen) {
    if (at < all.size()) {
      for (String value : all.get(at).getValue()) {
        chosen.put(all.get(at).getKey(), value);
        expand(all, at + 1, chosen);
      }
      return;
    }
    StringBuilder full = new StringBuilder(theme).append('/').append(name);
    all.stream().filter(p -> p.getValue().size() > 1).forEach(p -> full.append(", ").append(chosen.get(p.getKey())));
    Case c = new Case(full.toString());
    templates.forEach((file, content) -> c.template(file, content(content)));
    chosen.forEach(c::property);
    for (int kind : new int[] {0, 1, 2, 0}) {
      c.page(() -> Model.context(kind), Sinks.WRITER);
    }
    // The next page sees what a context keeps of this one.
    c.page(null, Sinks.UTF_8);
    c.page(() -> Model.context(1), Sinks.LATIN_1);
    cases.add(c);
  }

  private static String content(StringBuilder text) {
    StringBuilder content = new StringBuilder();
    text.substring(0, Math.max(0, text.length() - 1)).replace("⏎\n", "").chars().forEach(c -> {
      content.append(c == 0x2420 ? ' ' : c >= 0x2400 && c < 0x2420 ? (char) (c - 0x2400) : (char) c);
    });
    return content.toString();
  }
}
