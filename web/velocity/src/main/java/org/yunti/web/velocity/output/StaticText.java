package org.yunti.web.velocity.output;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Text that a template always writes: as a string for any writer, and as the bytes of the charsets that have been asked for. A record,
 * because the JIT trusts the fields of records: where the text is a constant of generated code, so is its length.
 *
 * @param utf8 its bytes, and zeros to a multiple of {@link #STEP}
 * @param length how many of the bytes are text
 * @param depends what the encoder does with its first or last character depends on what stands beside it
 * @param other the charset that was asked for last
 */
public record StaticText(String string, byte[] utf8, int length, boolean depends, AtomicReference<Encoded> other) {
  /** Short texts are copied so many bytes at a time. */
  static final int STEP = Long.BYTES;

  /** The bytes of a charset. */
  public record Encoded(Charset charset, byte[] bytes) {}

  public StaticText(String string) {
    this(string, string.getBytes(StandardCharsets.UTF_8));
  }

  private StaticText(String string, byte[] utf8) {
    this(string, Arrays.copyOf(utf8, (utf8.length + STEP - 1) / STEP * STEP), utf8.length, !string.isEmpty()
        && (Character.isLowSurrogate(string.charAt(0)) || Character.isHighSurrogate(string.charAt(string.length() - 1))),
        new AtomicReference<>());
  }

  /** In a charset that has no state and writes no mark at its beginning. */
  byte[] in(Charset charset) {
    Encoded known = other.get();
    if (known == null || !known.charset.equals(charset)) {
      known = new Encoded(charset, string.getBytes(charset));
      other.set(known);
    }
    return known.bytes;
  }
}
