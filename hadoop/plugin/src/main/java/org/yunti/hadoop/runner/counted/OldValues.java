package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.SerializationFactory;

/**
 * Groups of a reduce task of the old API, and the values of the present one.
 *
 * <p>Two key objects take turns: the present key, and the one that was read to see whether the group ends. Values that
 * the reducer leaves are skipped and not counted, as in Hadoop.
 */
public final class OldValues<K, V> implements Iterator<V> {
  private final ReduceInput records;
  private final RawComparator<K> grouping;
  private final LaterCounter values;
  private final Deserializer<K> keys;
  private final Deserializer<V> valuesRead;
  private final DataInputBuffer keyBytes = new DataInputBuffer();
  private final DataInputBuffer valueBytes = new DataInputBuffer();
  private K key;
  private K nextKey;
  private V value;
  private boolean isInGroup;
  private boolean more;
  private long passed;

  public OldValues(ReduceInput records, RawComparator<K> grouping, Class<K> keyClass, Class<V> valueClass,
      Configuration conf, LaterCounter values) throws IOException {
    this.records = records;
    this.grouping = grouping;
    this.values = values;
    SerializationFactory factory = new SerializationFactory(conf);
    keys = factory.getDeserializer(keyClass);
    keys.open(keyBytes);
    valuesRead = factory.getDeserializer(valueClass);
    valuesRead.open(valueBytes);
    advance();
    key = nextKey;
    nextKey = null;
    isInGroup = more;
  }

  /** Returns true if there is a group. */
  public boolean more() {
    return more;
  }

  public K getKey() {
    return key;
  }

  /** Skips the rest of the group, and goes to the next one. */
  public void nextKey() throws IOException {
    while (isInGroup) {
      advance();
    }
    passed++;
    K free = key;
    key = nextKey;
    nextKey = free;
    isInGroup = more;
  }

  @Override
  public boolean hasNext() {
    return isInGroup;
  }

  @Override
  public V next() {
    if (!isInGroup) {
      throw new NoSuchElementException("iterate past last value");
    }
    values.increment(1);
    try {
      DataInputBuffer bytes = records.getValue();
      valueBytes.reset(bytes.getData(), bytes.getPosition(), bytes.getLength());
      value = valuesRead.deserialize(value);
      advance();
    } catch (IOException e) {
      throw new RuntimeException("problem advancing post rec#" + passed, e);
    }
    return value;
  }

  private void advance() throws IOException {
    more = records.next();
    if (more) {
      DataInputBuffer bytes = records.getKey();
      keyBytes.reset(bytes.getData(), bytes.getPosition(), bytes.getLength());
      nextKey = keys.deserialize(nextKey);
      isInGroup = key != null && grouping.compare(key, nextKey) == 0;
    } else {
      isInGroup = false;
    }
  }
}
