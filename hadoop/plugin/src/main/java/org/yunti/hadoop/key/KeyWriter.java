package org.yunti.hadoop.key;

import java.io.IOException;
import org.yunti.hadoop.collect.RecordBatch;

/** Writes keys in normal form. */
public abstract class KeyWriter<K> {
  public final KeyForm form;

  protected KeyWriter(KeyForm form) {
    this.form = form;
  }

  /** Appends the normal form of a key; returns how many bytes Hadoop has for it. */
  public abstract int write(K key, RecordBatch to) throws IOException;

  /** Appends what goes before the value: nothing but for keys that are carried. */
  public void writeCarried(RecordBatch to) throws IOException {}
}
