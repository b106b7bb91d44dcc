package org.yunti.web.velocity.output;

/**
 * What each character is in UTF-8. Text that changes between ASCII and other scripts, as most does, costs a processor more in mispredicted
 * branches than in work; looked up, each character costs the same. 256 KB, of which a text touches the lines of its own characters.
 */
final class Utf8Table {
  /** Where the number of bytes is in an entry. */
  static final int LENGTH_SHIFT = 24;
  /**
   * By character: the bytes, the first one lowest, and above them how many they are. Negative for surrogates, which are not encoded one by
   * one.
   */
  static final int[] OF_CHAR = new int[Character.MAX_VALUE + 1];

  private Utf8Table() {}

  static {
    for (int c = 0; c < 0x80; c++) {
      OF_CHAR[c] = 1 << LENGTH_SHIFT | c;
    }
    for (int c = 0x80; c < 0x800; c++) {
      OF_CHAR[c] = 2 << LENGTH_SHIFT | 0x80C0 | c >> 6 | (c & 0x3F) << 8;
    }
    for (int c = 0x800; c <= Character.MAX_VALUE; c++) {
      boolean isSurrogate = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
      OF_CHAR[c] = isSurrogate ? -1 : 3 << LENGTH_SHIFT | 0x8080E0 | c >> 12 | (c & 0xFC0) << 2 | (c & 0x3F) << 16;
    }
  }
}
