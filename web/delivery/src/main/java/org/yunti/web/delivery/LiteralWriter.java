package org.yunti.web.delivery;

import java.io.IOException;
import java.io.Writer;

/**
 * Writer of the inside of a JavaScript string in a script of a page. Text without special characters passes in one
 * piece.
 */
final class LiteralWriter extends Writer {
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private final Writer out;

  LiteralWriter(Writer out) {
    this.out = out;
  }

  /**
   * Returns the escape of a character; null if it needs none. {@code <} could end or change the script; U+2028 and
   * U+2029 end a line in old JavaScript.
   */
  private static String escape(char c) {
    return switch (c) {
      case '"' -> "\\\"";
      case '\\' -> "\\\\";
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '<', '\u2028', '\u2029' -> hex(c);
      default -> c < ' ' ? hex(c) : null;
    };
  }

  private static String hex(char c) {
    return "\\u" + HEX[c >> 12] + HEX[c >> 8 & 15] + HEX[c >> 4 & 15] + HEX[c & 15];
  }

  @Override
  public void write(String text, int offset, int length) throws IOException {
    int from = offset;
    int end = offset + length;
    for (int i = from; i < end; i++) {
      String escaped = escape(text.charAt(i));
      if (escaped != null) {
        out.write(text, from, i - from);
        out.write(escaped);
        from = i + 1;
      }
    }
    if (from < end) {
      out.write(text, from, end - from);
    }
  }

  @Override
  public void write(char[] text, int offset, int length) throws IOException {
    write(new String(text, offset, length));
  }

  @Override
  public void write(int c) throws IOException {
    write(String.valueOf((char) c));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
