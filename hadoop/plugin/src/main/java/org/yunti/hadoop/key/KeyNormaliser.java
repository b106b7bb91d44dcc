package org.yunti.hadoop.key;

import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.RawComparator;

/**
 * Byte order of your own key type for native code. Name your class in {@value #SETTING}; it needs a public constructor
 * without arguments. If construction fails, the task declines and stock code runs.
 *
 * <p>Keys that the comparator calls equal must have the same normal form. A normal form may begin another one only if
 * its key sorts first. Write numbers big-endian with the sign bit inverted; end strings with a zero byte, or write them
 * last.
 */
public interface KeyNormaliser<K> {
  /** Job setting: class names, separated by commas. */
  String SETTING = "yunti.hadoop.key.normalisers";

  /** Returns true if this normaliser gives the order of {@code comparator} for keys of {@code keyClass}. */
  boolean serves(Class<?> keyClass, RawComparator<?> comparator);

  /** Writes the normal form of a key. Comparing these bytes, unsigned, must give the result of comparing the keys. */
  void normalise(K key, DataOutput to) throws IOException;
}
