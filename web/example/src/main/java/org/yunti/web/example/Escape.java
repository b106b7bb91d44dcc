package org.yunti.web.example;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** {@code $esc} of the templates: Velocity itself writes what it is given. */
public final class Escape {
  public String html(Object value) {
    String text = String.valueOf(value);
    StringBuilder escaped = null;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      String as = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;" : null;
      if (as != null && escaped == null) {
        escaped = new StringBuilder(text.length() + 16).append(text, 0, i);
      }
      if (escaped != null) {
        escaped.append(as == null ? String.valueOf(c) : as);
      }
    }
    return escaped == null ? text : escaped.toString();
  }

  public String url(Object value) {
    return URLEncoder.encode(String.valueOf(value), StandardCharsets.UTF_8);
  }
}
