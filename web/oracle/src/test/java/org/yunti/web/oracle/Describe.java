package org.yunti.web.oracle;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.velocity.context.Context;
import org.apache.velocity.exception.MethodInvocationException;
import org.apache.velocity.exception.ParseErrorException;
import org.apache.velocity.exception.VelocityException;

/** Description of exceptions and values as text. */
final class Describe {
  private static final int DEPTH_MAX = 6;

  /** Identity hash code of Object.toString(), which differs in each run, with the hexadecimal text after it. */
  private static final Pattern IDENTITY = Pattern.compile("(?<=[\\w;$])@[0-9a-f]+");

  /** Class name of a compiled template, which counts as a template. */
  private static final Pattern TEMPLATE = Pattern.compile("org\\.yunti\\.web\\.velocity\\.[\\w$]+@\\.\\.");

  /** Message of Java's reflection about an argument of a wrong type, which changes after many calls. */
  private static final Pattern REFLECTION =
      Pattern.compile("IllegalArgumentException: (argument type mismatch|null"
          + "|java\\.lang\\.ClassCastException(@\\.\\.|: [^\n]*)?)");

  private Describe() {}

  static String withoutIdentity(String text) {
    String plain = text;
    if (plain.indexOf('@') >= 0) {
      plain = TEMPLATE.matcher(IDENTITY.matcher(plain).replaceAll("@..")).replaceAll("org.apache.velocity.Template@..");
    }
    return plain.contains("IllegalArgument") ? REFLECTION.matcher(plain).replaceAll("IllegalArgumentException") : plain;
  }

  /** Returns class, message and place of an exception and of all its causes. */
  static String thrown(Throwable thrown) {
    StringBuilder text = new StringBuilder();
    int depth = 0;
    for (Throwable t = thrown; t != null && depth++ < 20; t = t.getCause()) {
      text.append(depth == 1 ? "" : "\n  caused by ").append(t.getClass().getName());
      // The place of a stack overflow is no part of the semantics.
      text.append(": ").append(t instanceof StackOverflowError ? "" : t.getMessage());
      if (t instanceof MethodInvocationException e) {
        text.append(" [method ").append(e.getMethodName()).append(", reference ").append(e.getReferenceName())
            .append(", ");
        text.append(e.getTemplateName()).append(':').append(e.getLineNumber()).append(':').append(e.getColumnNumber())
            .append(']');
      }
      if (t instanceof ParseErrorException e) {
        text.append(" [").append(e.getTemplateName()).append(':').append(e.getLineNumber()).append(':')
            .append(e.getColumnNumber());
        text.append(", syntax ").append(e.getInvalidSyntax()).append(']');
      }
      if (t instanceof VelocityException e && e.getVtlStackTrace() != null) {
        text.append(" vtl ").append(Arrays.toString(e.getVtlStackTrace()));
      }
    }
    return text.toString();
  }

  static Map<String, String> context(Context context) {
    Map<String, String> values = new TreeMap<>();
    for (String key : context.getKeys()) {
      values.put(key, value(context.get(key), 0));
    }
    return values;
  }

  private static String value(Object value, int depth) {
    if (value == null) {
      return "null";
    }
    String type = value.getClass().getSimpleName();
    if (depth > DEPTH_MAX) {
      return type;
    }
    if (value instanceof Map<?, ?> map) {
      List<String> entries = new ArrayList<>();
      map.forEach((k, v) -> entries.add(value(k, depth + 1) + '=' + value(v, depth + 1)));
      return type + entries;
    }
    if (value instanceof Collection<?> collection) {
      List<String> elements = new ArrayList<>();
      collection.forEach(element -> elements.add(value(element, depth + 1)));
      return type + elements;
    }
    if (value.getClass().isArray()) {
      List<String> elements = new ArrayList<>();
      for (int i = 0; i < Array.getLength(value); i++) {
        elements.add(value(Array.get(value, i), depth + 1));
      }
      return type + elements;
    }
    if (value instanceof State state) {
      return type + ' ' + state.state();
    }
    if (value.getClass().getName().startsWith("java.lang.") || value instanceof Number) {
      return type + ' ' + value;
    }
    // Other objects may render or count in toString().
    return type;
  }
}
