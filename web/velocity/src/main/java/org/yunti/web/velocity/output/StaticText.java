package org.yunti.web.velocity.output;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Static text of a template: a string for any writer, and its bytes in the charsets used. It is a record because the
 * JIT trusts the fields of records: if the text is a constant of generated code, so is its length.
 *
 * @param string the text
 * @param utf8 its bytes in UTF-8, with zeros up to a multiple of {@link #STEP}
 * @param length number of bytes of text
 * @param depends true if it begins or ends with half a surrogate pair, so that its bytes depend on the text beside it
 * @param other the charset used last, with its bytes
 */
public record StaticText(String string, byte[] utf8, int length, boolean depends, AtomicReference<Encoded> other) {
  /** Bytes copied at a time for short texts. */
  static final int STEP = Long.BYTES;

  /** Bytes of the text in a charset. */
  public record Encoded(Charset charset, byte[] bytes) {}

  /** Encodes a text in UTF-8. */
  public StaticText(String string) {
    this(string, string.getBytes(StandardCharsets.UTF_8));
  }

  private StaticText(String string, byte[] utf8) {
    this(string, Arrays.copyOf(utf8, (utf8.length + STEP - 1) / STEP * STEP), utf8.length, !string.isEmpty()
        && (Character.isLowSurrogate(string.charAt(0))
        || Character.isHighSurrogate(string.charAt(string.length() - 1))), new AtomicReference<>());
  }

  /** Returns the bytes in a charset without state and byte-order mark. */
  byte[] in(Charset charset) {
    Encoded known = other.get();
    if (known == null || !known.charset.equals(charset)) {
      known = new Encoded(charset, string.getBytes(charset));
      other.set(known);
    }
    return known.bytes;
  }
}
