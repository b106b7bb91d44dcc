package org.yunti.web.oracle;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** A page that came out differently. Its text is what a person needs to repeat it. */
public record Difference(Case of, int step, String what, Outcome expected, Outcome found) {
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(what).append(" differs: ").append(of.name()).append(", page ").append(step).append('\n');
    of.templates().forEach((name, content) -> text.append("-- ").append(name).append('\n').append(visible(content)).append('\n'));
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
      both(lines, "context " + key, String.valueOf(expected.context().get(key)), String.valueOf(found.context().get(key)));
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
      lines.add("== " + what + "\n   stock:    " + visible(expected) + "\n   compiled: " + visible(found));
    }
  }

  /** Controls, spaces at ends of lines and surrogates as escapes. */
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
