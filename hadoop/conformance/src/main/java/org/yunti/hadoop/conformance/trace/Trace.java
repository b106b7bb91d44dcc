package org.yunti.hadoop.conformance.trace;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.JobConf;

/**
 * Writes down what a reducer is given, so that the input of reduce itself is compared, not what a program makes
 * of it.
 *
 * <pre>
 *   g&lt;group&gt; c&lt;class&gt;  TAB  &lt;key bytes&gt; = &lt;value bytes&gt;
 * </pre>
 *
 * A group is one call of reduce. A class is a run of records whose keys are equal for the sort comparator;
 * within a class the order is not defined, even where the bytes of the keys differ. Two neighbours in the wrong
 * order are marked, so a wrong sort is found even if stock and variant agreed on it.
 *
 * <p>With {@link #DIGEST} a class becomes one line with the number of its records and a sum of their hashes,
 * for inputs that are too large to be written down.
 */
public final class Trace<K, V> {
  static final String DIGEST = "conformance.trace.digest";

  /** Only groups and records are counted: where processor time is measured, the reducer is to take none. */
  public static final String COUNT = "conformance.trace.count";

  /** Where a line goes: the contexts of the two APIs have no common type. */
  @FunctionalInterface
  interface Sink {
    void write(Text name, Text record) throws IOException, InterruptedException;
  }

  private final RawComparator<?> comparator;
  private final SerializationFactory serializations;
  private final boolean digest;
  private final boolean countsOnly;
  private Serializer<K> keySerializer;
  private Serializer<V> valueSerializer;
  private DataOutputBuffer key = new DataOutputBuffer();
  private DataOutputBuffer keyBefore = new DataOutputBuffer();
  private final DataOutputBuffer value = new DataOutputBuffer();
  private final Text name = new Text();
  private final Text record = new Text();
  private long group;
  private long sortClass;
  private boolean first = true;
  private long count;
  private long sum;

  Trace(Configuration conf) {
    JobConf job = new JobConf(conf);
    comparator = job.getOutputKeyComparator();
    serializations = new SerializationFactory(conf);
    digest = conf.getBoolean(DIGEST, false);
    countsOnly = conf.getBoolean(COUNT, false);
  }

  void startGroup(Sink sink) throws IOException, InterruptedException {
    if (!countsOnly) {
      flush(sink);
    }
    group++;
  }

  void add(K newKey, V newValue, Sink sink) throws IOException, InterruptedException {
    if (countsOnly) {
      count++;
      return;
    }
    serialise(newKey, newValue);
    int before = first ? -1
        : comparator.compare(keyBefore.getData(), 0, keyBefore.getLength(), key.getData(), 0, key.getLength());
    if (before != 0) {
      flush(sink);
      sortClass++;
    }
    first = false;
    if (before > 0) {
      name.set("g" + group + " c" + sortClass);
      record.set("OUT OF ORDER: " + printable(keyBefore) + " before " + printable(key));
      sink.write(name, record);
    }
    count++;
    if (digest) {
      sum += hash(key) * 31 + hash(value) * 17;
    } else {
      name.set("g" + group + " c" + sortClass);
      record.set(printable(key) + " = " + printable(value));
      sink.write(name, record);
    }
    DataOutputBuffer spare = keyBefore;
    keyBefore = key;
    key = spare;
  }

  /** Ends a class of the digest. A sum, because the order within a class is not defined. */
  void flush(Sink sink) throws IOException, InterruptedException {
    if (countsOnly) {
      name.set("g" + group);
      record.set(count + " records");
      sink.write(name, record);
    } else if (digest && count > 0) {
      name.set("g" + group + " c" + sortClass);
      record.set(count + " records, sum " + Long.toHexString(sum));
      sink.write(name, record);
    }
    count = 0;
    sum = 0;
  }

  @SuppressWarnings("unchecked")
  private void serialise(K newKey, V newValue) throws IOException {
    if (keySerializer == null) {
      keySerializer = serializations.getSerializer((Class<K>) newKey.getClass());
      valueSerializer = serializations.getSerializer((Class<V>) newValue.getClass());
      value.reset();
      valueSerializer.open(value);
    }
    key.reset();
    keySerializer.open(key); // Anew: the two key buffers take turns.
    keySerializer.serialize(newKey);
    value.reset();
    valueSerializer.serialize(newValue);
  }

  private static String printable(DataOutputBuffer buffer) {
    return Printable.of(buffer.getData(), buffer.getLength());
  }

  /** 64-bit FNV-1a, then mixed, because sums of plain ones of short strings meet too easily. */
  private static long hash(DataOutputBuffer buffer) {
    long hash = 0xcbf29ce484222325L;
    byte[] bytes = buffer.getData();
    for (int i = 0; i < buffer.getLength(); i++) {
      hash = (hash ^ (bytes[i] & 0xff)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    return hash ^ (hash >>> 29);
  }
}
