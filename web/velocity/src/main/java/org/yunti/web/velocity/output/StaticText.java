package org.yunti.web.velocity.output;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Text that a template always writes: as a string for any writer, and as the bytes of the charsets that have been asked for. */
public final class StaticText {
  final String string;
  final byte[] utf8;
  /** What the encoder does with its first or last character depends on what stands beside it. */
  final boolean depends;
  private volatile Encoded other;

  private record Encoded(Charset charset, byte[] bytes) {}

  public StaticText(String string) {
    this.string = string;
    utf8 = string.getBytes(StandardCharsets.UTF_8);
    depends = !string.isEmpty()
        && (Character.isLowSurrogate(string.charAt(0)) || Character.isHighSurrogate(string.charAt(string.length() - 1)));
  }

  public String string() {
    return string;
  }

  /** In a charset that has no state and writes no mark at its beginning. */
  byte[] in(Charset charset) {
    Encoded known = other;
    if (known == null || !known.charset.equals(charset)) {
      known = new Encoded(charset, string.getBytes(charset));
      other = known;
    }
    return known.bytes;
  }
}
