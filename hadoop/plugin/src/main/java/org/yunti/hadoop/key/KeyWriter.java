package org.yunti.hadoop.key;

import java.io.IOException;
import org.yunti.hadoop.collect.RecordBatch;

/** Writer of keys in normal form. */
public abstract class KeyWriter<K> {
  /** Normal form that {@link #write} produces. */
  public final KeyForm form;

  /** Comparator by which native code sorts the keys, or null: their normal form gives the order. */
  public final KeyComparator comparator;

  protected KeyWriter(KeyForm form) {
    this(form, null);
  }

  KeyWriter(KeyForm form, KeyComparator comparator) {
    this.form = form;
    this.comparator = comparator;
  }

  /** Appends the normal form of a key; returns the bytes of the key in Hadoop's serialisation. */
  public abstract int write(K key, RecordBatch to) throws IOException;

  /** Appends the bytes that precede the value: none except for carried keys. */
  public void writeCarried(RecordBatch to) throws IOException {}
}
