package org.yunti.web.shrink.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reader of JSON (RFC 8259) into model objects: maps in their order, lists, strings, booleans, null; numbers as
 * Integer, Long, BigInteger or Double, the first that holds them.
 */
public final class JsonReader {
  private static final int DEPTH_MAX = 500;

  private final String text;
  private int at;

  private JsonReader(String text) {
    this.text = text;
  }

  /**
   * Reads one JSON value.
   *
   * @throws JsonException if the text is not JSON; the message has line and column
   */
  public static Object read(String text) throws JsonException {
    JsonReader reader = new JsonReader(text.startsWith("\ufeff") ? text.substring(1) : text);
    Object value = reader.value(0);
    reader.blanks();
    if (reader.at < reader.text.length()) {
      throw reader.wrong("there is text after the value");
    }
    return value;
  }

  private JsonException wrong(String what) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < at && i < text.length(); i++) {
      column = text.charAt(i) == '\n' ? 1 : column + 1;
      line += text.charAt(i) == '\n' ? 1 : 0;
    }
    return new JsonException("line " + line + ", column " + column + ": " + what);
  }

  private void blanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private void expect(char c) throws JsonException {
    blanks();
    if (peek() != c) {
      throw wrong("'" + c + "' is expected" + (at >= text.length() ? ", but the text ends" : ", not '" + peek() + "'"));
    }
    at++;
  }

  private Object value(int depth) throws JsonException {
    if (depth > DEPTH_MAX) {
      throw wrong("more than " + DEPTH_MAX + " nested values");
    }
    blanks();
    return switch (peek()) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) throws JsonException {
    Map<String, Object> object = new LinkedHashMap<>();
    expect('{');
    blanks();
    if (peek() == '}') {
      at++;
      return object;
    }
    while (true) {
      blanks();
      if (peek() != '"') {
        throw wrong("a name in \" is expected");
      }
      String name = string();
      expect(':');
      object.put(name, value(depth + 1));
      blanks();
      if (peek() != ',') {
        expect('}');
        return object;
      }
      at++;
    }
  }

  private List<Object> array(int depth) throws JsonException {
    List<Object> array = new ArrayList<>();
    expect('[');
    blanks();
    if (peek() == ']') {
      at++;
      return array;
    }
    while (true) {
      array.add(value(depth + 1));
      blanks();
      if (peek() != ',') {
        expect(']');
        return array;
      }
      at++;
    }
  }

  private Object word(String word, Object value) throws JsonException {
    if (!text.startsWith(word, at)) {
      throw wrong("a value is expected");
    }
    at += word.length();
    return value;
  }

  private String string() throws JsonException {
    StringBuilder string = new StringBuilder();
    at++;
    while (true) {
      if (at >= text.length()) {
        throw wrong("a string has no end");
      }
      char c = text.charAt(at);
      if (c < ' ') {
        throw wrong("a control character in a string; write it as \\u00" + (c < 16 ? "0" : "")
            + Integer.toHexString(c));
      }
      at++;
      if (c == '"') {
        return string.toString();
      }
      string.append(c == '\\' ? escaped() : c);
    }
  }

  private char escaped() throws JsonException {
    char c = peek();
    int known = "\"\\/bfnrt".indexOf(c);
    if (known >= 0 && c != 0) {
      at++;
      return "\"\\/\b\f\n\r\t".charAt(known);
    }
    if (c == 'u' && at + 5 <= text.length() && text.substring(at + 1, at + 5).matches("[0-9A-Fa-f]{4}")) {
      at += 5;
      return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }
    throw wrong("an unknown escape in a string");
  }

  private Object number() throws JsonException {
    int from = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String number = text.substring(from, at);
    if (!number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
      at = from;
      throw wrong("a value is expected");
    }
    if (number.matches("-?[0-9]+")) {
      BigInteger whole = new BigInteger(number);
      return whole.bitLength() < 32 ? (Object) whole.intValue() : whole.bitLength() < 64 ? (Object) whole.longValue()
          : whole;
    }
    return new BigDecimal(number).doubleValue();
  }
}
