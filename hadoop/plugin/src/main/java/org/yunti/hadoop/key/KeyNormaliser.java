package org.yunti.hadoop.key;

import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.RawComparator;

/**
 * For key types of your own: gives native code an order of bytes. Name your class in {@value #SETTING}; it needs a constructor
 * without arguments.
 *
 * <p>Keys that the comparator calls equal must have the same normal form, and no normal form may be the beginning of another one
 * unless that key comes first: numbers big-endian with the sign bit turned, strings ended by a zero byte or last.
 */
public interface KeyNormaliser<K> {
  /** Class names, separated by commas. */
  String SETTING = "yunti.hadoop.key.normalisers";

  /** Whether it gives the order of this comparator for keys of this class. */
  boolean serves(Class<?> keyClass, RawComparator<?> comparator);

  /** Writes the normal form of a key: comparing these bytes, unsigned, is comparing the keys. */
  void normalise(K key, DataOutput to) throws IOException;
}
