package org.yunti.hadoop.key;

/**
 * How a key's own bytes come back from its normal form, whose bytes are in the order of the keys. The numbers are those of
 * {@code key.rs}, where each is described.
 */
public enum KeyForm {
  SAME(0),
  TEXT(1),
  BYTES(2),
  SIGNED(3),
  SIGNED_DOWN(4),
  FLOAT(5),
  VINT(6),
  UTF8(7),
  CARRIED(8);

  public final int number;

  KeyForm(int number) {
    this.number = number;
  }
}
