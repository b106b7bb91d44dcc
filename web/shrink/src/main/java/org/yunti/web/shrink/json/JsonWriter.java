package org.yunti.web.shrink.json;

import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Writer of maps, lists, strings, numbers, booleans and null as JSON, indented by two blanks per level. */
public final class JsonWriter {
  private final StringBuilder out = new StringBuilder();

  private JsonWriter() {}

  /** Returns a value as JSON, with a line end. */
  public static String write(Object value) {
    JsonWriter writer = new JsonWriter();
    writer.value(value, "\n");
    return writer.out.append('\n').toString();
  }

  private void value(Object value, String line) {
    if (value instanceof Map<?, ?> map) {
      out.append('{');
      for (Iterator<? extends Map.Entry<?, ?>> all = map.entrySet().iterator(); all.hasNext();) {
        Map.Entry<?, ?> entry = all.next();
        out.append(line).append("  ");
        string(String.valueOf(entry.getKey()));
        out.append(": ");
        value(entry.getValue(), line + "  ");
        out.append(all.hasNext() ? "," : line);
      }
      out.append('}');
    } else if (value instanceof List<?> list) {
      out.append('[');
      for (Iterator<?> all = list.iterator(); all.hasNext();) {
        out.append(line).append("  ");
        value(all.next(), line + "  ");
        out.append(all.hasNext() ? "," : line);
      }
      out.append(']');
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      string(value.toString());
    }
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      int known = "\"\\\b\f\n\r\t".indexOf(c);
      if (known >= 0) {
        out.append('\\').append("\"\\bfnrt".charAt(known));
      } else if (c < ' ' || Character.isSurrogate(c)) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
