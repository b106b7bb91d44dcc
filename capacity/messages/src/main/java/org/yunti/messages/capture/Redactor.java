package org.yunti.messages.capture;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * Replaces texts and numbers by others of the same length and kind, under a key that is dropped with this object.
 *
 * <p>Digits stay digits, letters letters of the same case, and other letters letters of their part of Unicode with the
 * same length in UTF-8. Punctuation and spaces stay. A character's replacement depends on the key and on all characters
 * before it. So equal texts stay equal, unlike texts stay unlike, and equal beginnings stay equal, which keeps the work
 * of compression and of maps alike. Length, punctuation and equality are what a reader of the result learns.
 */
public final class Redactor {
  private final long first;
  private final long second;

  public Redactor(SecureRandom random) {
    first = random.nextLong();
    second = random.nextLong() | 1;
  }

  private long mix(long state, int next) {
    long z = (state ^ next) * second + first;
    z = (z ^ z >>> 32) * 0xd6e8feb86659fd93L;
    z = (z ^ z >>> 29 ^ first) * 0xbf58476d1ce4e5b9L;
    return z ^ z >>> 32;
  }

  /** Returns a text of the same length and classes of characters. */
  public String text(String text) {
    StringBuilder out = new StringBuilder(text.length());
    long state = first ^ second;
    boolean isInNumber = false;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      int turn = (int) (state >>> 33);
      if (c >= '0' && c <= '9') {
        // A leading zero stays, and no other digit becomes one.
        out.append(isInNumber ? turned(c, '0', 10, turn) : c == '0' ? '0' : turned(c, '1', 9, turn));
      } else if (c >= 'a' && c <= 'z') {
        out.append(turned(c, 'a', 26, turn));
      } else if (c >= 'A' && c <= 'Z') {
        out.append(turned(c, 'A', 26, turn));
      } else if (c > 127 && Character.isLetterOrDigit(c)) {
        out.appendCodePoint(letter(c, turn));
      } else {
        out.appendCodePoint(c);
      }
      isInNumber = c >= '0' && c <= '9';
      state = mix(state, c);
      i += Character.charCount(c);
    }
    return out.toString();
  }

  private static char turned(int c, int from, int count, int turn) {
    return (char) (from + (c - from + turn % count) % count);
  }

  /** Returns a letter of the same 64 code points: they have the same length in UTF-8. */
  private static int letter(int c, int turn) {
    int step = turn % 64 | 1;
    int type = Character.getType(c);
    int it = c;
    do {
      it = it & ~63 | it + step & 63;
    } while (Character.getType(it) != type);
    return it;
  }

  /** Returns a decimal number of the same length: zeros stay, other digits are replaced by others but zero. */
  public String digits(String number) {
    StringBuilder out = new StringBuilder(number.length());
    long state = first + second;
    boolean isExponent = false;
    for (int i = 0; i < number.length(); i++) {
      char c = number.charAt(i);
      isExponent |= c == 'E' || c == 'e';
      boolean isReplaced = c > '0' && c <= '9' && !isExponent;
      out.append(isReplaced ? turned(c, '1', 9, (int) (state >>> 33)) : c);
      state = mix(state, c);
    }
    return out.toString();
  }

  /** Returns a whole number of the same length that is at most {@code max}, or at least its negative. */
  public long whole(long number, long max) {
    if (number == Long.MIN_VALUE || number == 0) {
      return number;
    }
    String digits = digits(Long.toString(Math.abs(number)));
    if (digits.length() >= Long.toString(max).length()) {
      digits = '1' + digits.substring(1);
    }
    long value = Long.parseLong(digits);
    return number < 0 ? -value : value;
  }

  /** Returns bytes of the same length: a text in UTF-8 as texts, other bytes by their class. */
  public byte[] bytes(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return text(text).getBytes(StandardCharsets.UTF_8);
    } catch (CharacterCodingException e) {
      byte[] out = new byte[bytes.length];
      long state = first;
      for (int i = 0; i < bytes.length; i++) {
        // The upper bit and zeros stay.
        out[i] = bytes[i] == 0 ? 0 : (byte) (bytes[i] & 0x80 | Math.max(1, (bytes[i] ^ state >>> 40) & 0x7f));
        state = mix(state, bytes[i]);
      }
      return out;
    }
  }
}
