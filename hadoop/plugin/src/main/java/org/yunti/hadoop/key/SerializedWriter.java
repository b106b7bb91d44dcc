package org.yunti.hadoop.key;

import java.io.IOException;
import org.apache.hadoop.io.serializer.Serializer;
import org.yunti.hadoop.collect.RecordBatch;

/**
 * Writer of keys as Hadoop serialises them, for bytes that are in order, or for keys that the job's comparator sorts.
 */
class SerializedWriter<K> extends KeyWriter<K> {
  private final Serializer<K> serializer;
  private RecordBatch opened;

  SerializedWriter(KeyForm form, KeyComparator comparator, Serializer<K> serializer) {
    super(form, comparator);
    this.serializer = serializer;
  }

  @Override
  public int write(K key, RecordBatch to) throws IOException {
    if (opened != to) {
      serializer.open(to.data());
      opened = to;
    }
    int start = to.position();
    serializer.serialize(key);
    return to.position() - start;
  }
}
