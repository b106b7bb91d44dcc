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
 * Log of a reducer's input, so that the input of reduce itself is compared instead of a program's result.
 *
 * <pre>
 *   g&lt;group&gt; c&lt;class&gt;  TAB  &lt;key bytes&gt; = &lt;value bytes&gt;
 * </pre>
 *
 * A group is one call of reduce. A class is a run of records whose keys are equal for the sort comparator. The order
 * within a class is undefined, even if the bytes of the keys differ. Two adjacent keys in the wrong order are marked,
 * so a wrong sort is found even if stock and variant agree on it.
 *
 * <p>With {@link #DIGEST}, a class becomes one line with the number of its records and a sum of their hashes, for
 * inputs that are too large to print.
 */
public final class Trace<K, V> {
  static final String DIGEST = "conformance.trace.digest";

  /** Setting that only counts groups and records, so that the reducer takes no time in processor-time measurements. */
  public static final String COUNT = "conformance.trace.count";

  /** Destination of a line; the contexts of the two APIs have no common type. */
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

  /** Ends a class of the digest, with a sum because the order within a class is undefined. */
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
    keySerializer.open(key); // Reopened, because the two key buffers alternate.
    keySerializer.serialize(newKey);
    value.reset();
    valueSerializer.serialize(newValue);
  }

  private static String printable(DataOutputBuffer buffer) {
    return Printable.of(buffer.getData(), buffer.getLength());
  }

  /** Returns a mixed 64-bit FNV-1a hash; sums of unmixed hashes of short strings collide too easily. */
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
