package org.yunti.hadoop.key;

import java.io.IOException;
import org.yunti.hadoop.collect.RecordBatch;

/** Writer of keys in normal form. */
public abstract class KeyWriter<K> {
  /** Normal form that {@link #write} produces. */
  public final KeyForm form;

  /**
   * User code that native code calls, or null: a {@link KeyComparator} that orders the keys, or {@link KeyNormals} that
   * give the normal form of keys that arrive as bytes.
   */
  public final KeyCode code;

  protected KeyWriter(KeyForm form) {
    this(form, null);
  }

  KeyWriter(KeyForm form, KeyCode code) {
    this.form = form;
    this.code = code;
  }

  /** Appends the normal form of a key; returns the bytes of the key in Hadoop's serialisation. */
  public abstract int write(K key, RecordBatch to) throws IOException;

  /** Appends the bytes that precede the value: none except for carried keys. */
  public void writeCarried(RecordBatch to) throws IOException {}
}
