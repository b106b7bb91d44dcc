package org.yunti.web.velocity.output;

/**
 * Table of the UTF-8 bytes of each character. Text that alternates between ASCII and other scripts costs more in
 * mispredicted branches than in work; a lookup costs the same for each character. The table has 256 KB, and a text
 * touches only the cache lines of its own characters.
 */
final class Utf8Table {
  /** Shift of the number of bytes in an entry. */
  static final int LENGTH_SHIFT = 24;
  /**
   * Entries by character: the bytes, the first one lowest, and their number above them. Negative for surrogates, which
   * are not encoded one by one.
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
