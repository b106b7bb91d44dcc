package org.yunti.web.oracle;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Page that differs. Its text has all that is needed to repeat it. */
public record Difference(Case of, int step, String what, Outcome expected, Outcome found) {
  private static final int TEMPLATES_SHOWN_MAX = 8;
  private static final int TEXT_SHOWN_MAX = 2000;

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(what).append(" differs: ").append(of.name()).append(", page ").append(step)
        .append('\n');
    String main = step < of.steps().size() ? of.steps().get(step).template() : Case.MAIN;
    of.templates().forEach((name, content) -> {
      if (of.templates().size() <= TEMPLATES_SHOWN_MAX || name.equals(main)) {
        text.append("-- ").append(name).append('\n').append(visible(content)).append('\n');
      }
    });
    of.properties().forEach((key, value) -> text.append("-- ").append(key).append(" = ").append(value).append('\n'));
    if (step < of.steps().size()) {
      text.append("-- sink ").append(of.steps().get(step).sink()).append('\n');
    }
    for (String line : lines()) {
      text.append(line).append('\n');
    }
    return text.toString();
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    both(lines, "text", expected.text(), found.text());
    both(lines, "exception", expected.thrown(), found.thrown());
    TreeSet<String> keys = new TreeSet<>(expected.context().keySet());
    keys.addAll(found.context().keySet());
    for (String key : keys) {
      both(lines, "context " + key, String.valueOf(expected.context().get(key)),
          String.valueOf(found.context().get(key)));
    }
    int journal = Math.max(expected.journal().size(), found.journal().size());
    for (int i = 0; i < journal; i++) {
      both(lines, "journal " + i, at(expected.journal(), i), at(found.journal(), i));
      if (!at(expected.journal(), i).equals(at(found.journal(), i))) {
        break;
      }
    }
    return lines;
  }

  private static String at(List<String> lines, int i) {
    return i < lines.size() ? lines.get(i) : "(nothing)";
  }

  private static void both(List<String> lines, String what, String expected, String found) {
    if (!expected.equals(found)) {
      int from = expected.length() + found.length() > TEXT_SHOWN_MAX
          ? Math.max(0, firstDifference(expected, found) - 100) : 0;
      String where = from > 0 ? " from character " + from : "";
      lines.add("== " + what + where + "\n   stock:    " + visible(piece(expected, from)) + "\n   compiled: "
          + visible(piece(found, from)));
    }
  }

  private static int firstDifference(String a, String b) {
    int at = 0;
    while (at < a.length() && at < b.length() && a.charAt(at) == b.charAt(at)) {
      at++;
    }
    return at;
  }

  private static String piece(String text, int from) {
    return text.substring(Math.min(from, text.length()), Math.min(from + TEXT_SHOWN_MAX, text.length()));
  }

  /** Returns text with controls, spaces at line ends and surrogates as escapes. */
  static String visible(Object content) {
    String text = content instanceof byte[] bytes ? new String(bytes, StandardCharsets.ISO_8859_1) : (String) content;
    StringBuilder visible = new StringBuilder();
    text.chars().forEach(c -> {
      if (c == '\n') {
        visible.append("\\n\n");
      } else if (c < ' ' || c > 0x7E && c < 0xA0 || Character.isSurrogate((char) c)) {
        visible.append(String.format("\\u%04x", c));
      } else {
        visible.append((char) c);
      }
    });
    return visible.toString();
  }
}
