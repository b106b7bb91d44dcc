package org.yunti.web.example;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Escaping functions, {@code $esc} in templates: Velocity itself does not escape. */
public final class Escape {
  /** Returns the value's text with HTML's special characters escaped. */
  public String html(Object value) {
    String text = String.valueOf(value);
    StringBuilder escaped = null;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      String as = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;"
          : null;
      if (as != null && escaped == null) {
        escaped = new StringBuilder(text.length() + 16).append(text, 0, i);
      }
      if (escaped != null) {
        escaped.append(as == null ? String.valueOf(c) : as);
      }
    }
    return escaped == null ? text : escaped.toString();
  }

  /** Returns the value's text, URL-encoded in UTF-8. */
  public String url(Object value) {
    return URLEncoder.encode(String.valueOf(value), StandardCharsets.UTF_8);
  }
}
