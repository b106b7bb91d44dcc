package org.yunti.hadoop.conformance.trace;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Lossless form of bytes as one line of ASCII, readable in a difference. */
public final class Printable {
  /** Bytes of the longest string printed in full; longer ones are printed as length and digest. */
  private static final int SHOWN_BYTES_MAX = 256;

  private Printable() {}

  public static String of(byte[] bytes, int length) {
    if (length > SHOWN_BYTES_MAX) {
      return digest(bytes, length);
    }
    StringBuilder text = new StringBuilder(length + 2).append('"');
    for (int i = 0; i < length; i++) {
      int b = bytes[i] & 0xff;
      if (b >= ' ' && b < 0x7f && b != '\\' && b != '"') {
        text.append((char) b);
      } else {
        text.append("\\x").append(Character.forDigit(b >> 4, 16)).append(Character.forDigit(b & 15, 16));
      }
    }
    return text.append('"').toString();
  }

  private static String digest(byte[] bytes, int length) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(bytes, 0, length);
      return length + " bytes, sha256 " + HexFormat.of().formatHex(digest.digest(), 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
