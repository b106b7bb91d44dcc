package org.yunti.hadoop.collect;

import java.io.IOException;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.mapred.JobConf;
import org.yunti.hadoop.key.KeyCode;
import org.yunti.hadoop.key.KeyForm;
import org.yunti.hadoop.key.KeyWriter;
import org.yunti.hadoop.key.KeyWriters;
import org.yunti.hadoop.key.KeyWriters.Use;

/**
 * Writer of a job's map output records into batches: keys in normal form, values as Hadoop serialises them. Each thread
 * has its own.
 */
public final class RecordWriter<K, V> {
  private final Class<K> keyClass;
  private final Class<V> valueClass;
  private final KeyWriter<K> keys;
  private ValueWriter<V> values;

  /** Origin of the records. It selects the message for a wrong class, which matches Hadoop's. */
  public enum From {
    MAPPER,
    COMBINER
  }

  private final From from;

  /** Throws {@link Declined} if a class has no serializer. */
  @SuppressWarnings("unchecked")
  public RecordWriter(JobConf job, From from, Use use) throws IOException {
    this.from = from;
    keyClass = (Class<K>) job.getMapOutputKeyClass();
    valueClass = (Class<V>) job.getMapOutputValueClass();
    keys = KeyWriters.find(job, keyClass, job.getOutputKeyComparator(), use);
    values = ValueWriter.find(job, valueClass);
  }

  /** Switches to values that native code adds. */
  void sum(KnownSum sum) {
    values =
        sum == KnownSum.INT
            ? (value, to) -> to.putSum(((IntWritable) value).get())
            : (value, to) -> to.putSum(((LongWritable) value).get());
  }

  /** Returns the normal form of the keys. */
  public KeyForm keyForm() {
    return keys.form;
  }

  /** Returns the user code on keys that native code calls, or null. */
  public KeyCode keyCode() {
    return keys.code;
  }

  /** Appends one record; returns the bytes of its key and value in Hadoop's serialisation. */
  int write(K key, V value, RecordBatch to) throws IOException {
    if (key.getClass() != keyClass) {
      throw mismatch("key", keyClass, key);
    }
    if (value.getClass() != valueClass) {
      throw mismatch("value", valueClass, value);
    }
    int start = to.begin();
    int own = keys.write(key, to);
    int keyLength = to.position() - start - RecordBatch.HEADER_BYTES;
    int end = to.position();
    keys.writeCarried(to);
    values.write(value, to);
    int rest = to.position() - end;
    to.end(start, keyLength);
    return own + rest;
  }

  private IOException mismatch(String what, Class<?> expected, Object found) {
    if (from == From.COMBINER) {
      return new IOException("wrong " + what + " class: " + found.getClass() + " is not " + expected);
    }
    return new IOException(
        "Type mismatch in "
            + what
            + " from map: expected "
            + expected.getName()
            + ", received "
            + found.getClass().getName());
  }
}
