package org.yunti.hadoop;

import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Writer of one JSON document (RFC 8259). Jackson is no choice: Hadoop's shaded client carries it under another name.
 *
 * <p>Call order: one object, whose fields, objects and arrays come in the order of the calls; {@link #end} closes the
 * innermost one.
 */
public final class JsonWriter implements Closeable {
  private final Writer out;
  /** Closing brackets of the open objects and arrays, the innermost first. */
  private final Deque<Character> open = new ArrayDeque<>();

  private boolean isFirst = true;

  public JsonWriter(Writer out) {
    this.out = out;
  }

  public void beginObject() throws IOException {
    separate();
    begin('{', '}');
  }

  public void beginObject(String name) throws IOException {
    name(name);
    begin('{', '}');
  }

  public void beginArray(String name) throws IOException {
    name(name);
    begin('[', ']');
  }

  /** Ends the innermost object or array. */
  public void end() throws IOException {
    out.write(open.pop());
    isFirst = false;
  }

  /** Writes a field; {@code value} may be null. */
  public void field(String name, String value) throws IOException {
    name(name);
    if (value == null) {
      out.write("null");
    } else {
      text(value);
    }
  }

  public void field(String name, long value) throws IOException {
    name(name);
    out.write(Long.toString(value));
  }

  public void field(String name, boolean value) throws IOException {
    name(name);
    out.write(Boolean.toString(value));
  }

  private void begin(char opening, char closing) throws IOException {
    out.write(opening);
    open.push(closing);
    isFirst = true;
  }

  private void separate() throws IOException {
    if (!isFirst) {
      out.write(',');
    }
    isFirst = false;
  }

  private void name(String name) throws IOException {
    separate();
    text(name);
    out.write(':');
  }

  private void text(String text) throws IOException {
    out.write('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.write('\\');
        out.write(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        out.write(String.format("\\u%04x", (int) c));
      } else {
        out.write(c);
      }
    }
    out.write('"');
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
