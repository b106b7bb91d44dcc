package org.yunti.messages.text;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * JSON of captured messages and of results: trees of maps, lists, texts, numbers and booleans. The target and the
 * trials may have any JSON library, so this one belongs to neither.
 */
public final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** A text of the message itself, which is redacted when it is written. */
  public record Text(String of) {}

  /** Returns the JSON of a tree. {@code texts} replaces texts of the message. */
  public static String of(Object tree, UnaryOperator<String> texts) {
    StringBuilder out = new StringBuilder();
    write(out, tree, texts);
    return out.toString();
  }

  public static String of(Object tree) {
    return of(tree, UnaryOperator.identity());
  }

  private static void write(StringBuilder out, Object value, UnaryOperator<String> texts) {
    if (value instanceof Map<?, ?> map) {
      char before = '{';
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(before);
        quote(out, entry.getKey().toString());
        out.append(':');
        write(out, entry.getValue(), texts);
        before = ',';
      }
      out.append(before == '{' ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      char before = '[';
      for (Object each : list) {
        out.append(before);
        write(out, each, texts);
        before = ',';
      }
      out.append(before == '[' ? "[]" : "]");
    } else if (value instanceof Text it) {
      quote(out, texts.apply(it.of));
    } else if (value instanceof Double it && !Double.isFinite(it)) {
      out.append("null");
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      quote(out, value.toString());
    }
  }

  private static void quote(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c == '\u2028' || c == '\u2029' || Character.isSurrogate(c)) {
        // A lone surrogate would be lost in UTF-8.
        out.append("\\u").append(Character.forDigit(c >> 12, 16)).append(Character.forDigit(c >> 8 & 15, 16))
            .append(Character.forDigit(c >> 4 & 15, 16)).append(Character.forDigit(c & 15, 16));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  /**
   * Parses a document: maps, lists, texts, {@link BigDecimal} for numbers, booleans and null.
   *
   * @throws IllegalArgumentException if it is no JSON
   */
  public static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at < text.length()) {
      throw json.wrong();
    }
    return value;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("no JSON at character " + at);
  }

  private void space() {
    while (at < text.length() && text.charAt(at) <= ' ') {
      at++;
    }
  }

  private char next() {
    space();
    if (at == text.length()) {
      throw wrong();
    }
    return text.charAt(at);
  }

  private boolean takes(char wanted) {
    boolean isThere = next() == wanted;
    at += isThere ? 1 : 0;
    return isThere;
  }

  private void take(char wanted) {
    if (!takes(wanted)) {
      throw wrong();
    }
  }

  private Object value() {
    switch (next()) {
      case '{':
        at++;
        Map<String, Object> map = new LinkedHashMap<>();
        if (!takes('}')) {
          do {
            next();
            String key = string();
            take(':');
            map.put(key, value());
          } while (takes(','));
          take('}');
        }
        return map;
      case '[':
        at++;
        List<Object> list = new ArrayList<>();
        if (!takes(']')) {
          do {
            list.add(value());
          } while (takes(','));
          take(']');
        }
        return list;
      case '"':
        return string();
      default:
        int from = at;
        while (at < text.length() && "{}[],:\" \n".indexOf(text.charAt(at)) < 0) {
          at++;
        }
        String word = text.substring(from, at);
        return switch (word) {
          case "null" -> null;
          case "true" -> true;
          case "false" -> false;
          default -> number(word);
        };
    }
  }

  private BigDecimal number(String word) {
    try {
      return new BigDecimal(word);
    } catch (NumberFormatException e) {
      throw wrong();
    }
  }

  private String string() {
    take('"');
    StringBuilder out = new StringBuilder();
    while (true) {
      if (at >= text.length()) {
        throw wrong();
      }
      char c = text.charAt(at++);
      if (c == '"') {
        return out.toString();
      }
      if (c != '\\') {
        out.append(c);
        continue;
      }
      if (at >= text.length()) {
        throw wrong();
      }
      char escaped = text.charAt(at++);
      if (escaped != 'u') {
        out.append(escaped);
      } else if (at + 4 <= text.length()) {
        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
        at += 4;
      } else {
        throw wrong();
      }
    }
  }
}
