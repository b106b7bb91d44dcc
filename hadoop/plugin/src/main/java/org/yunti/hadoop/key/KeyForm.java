package org.yunti.hadoop.key;

/**
 * Normal form of keys: bytes whose unsigned order is the order of the keys, and from which the key's own bytes can be
 * rebuilt. {@code key/mod.rs} defines the numbers and describes each form.
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
  CARRIED(8),
  ZIGZAG(9);

  public final int number;

  KeyForm(int number) {
    this.number = number;
  }
}
