package org.yunti.hadoop.collect;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.util.Progress;

/**
 * A Java combiner over the sorted records of native code: the records of one partition come in batches, what the combiner emits
 * goes back in batches. Native code calls {@link #combine}, and is called back from within it (combine_feed.rs).
 */
final class CombineFeed<K, V> implements RawKeyValueIterator, OutputCollector<K, V> {
  private static final int BATCH_BYTES = 64 << 10;
  private static final int PROGRESS_RECORDS = 10_000;

  private final CombinerRunner<K, V> runner;
  private final RecordWriter<K, V> writer;
  private final RecordBatch out;
  private final Counters.Counter outputRecords;
  private final Reporter reporter;

  private long feed;
  private byte[] in = new byte[2 * BATCH_BYTES];
  private int length;
  private int position;
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
  private long emitted;

  /** Writes one record to a batch, as the collector does. */
  interface RecordWriter<K, V> {
    void write(K key, V value, RecordBatch to) throws IOException;
  }

  CombineFeed(
      CombinerRunner<K, V> runner,
      RecordWriter<K, V> writer,
      RecordBatch out,
      Counters.Counter outputRecords,
      Reporter reporter) {
    this.runner = runner;
    this.writer = writer;
    this.out = out;
    this.outputRecords = outputRecords;
    this.reporter = reporter;
  }

  /** Called by native code; {@code feed} is good until it returns. */
  void combine(long feed) throws IOException, InterruptedException, ClassNotFoundException {
    this.feed = feed;
    length = 0;
    position = 0;
    try {
      runner.combine(this, this);
      handOver();
    } finally {
      this.feed = 0;
      out.shrink(BATCH_BYTES);
    }
  }

  @Override
  public boolean next() throws IOException {
    if (position == length) {
      int n = next(feed, in);
      if (n < 0) {
        in = new byte[-n];
        n = next(feed, in);
      }
      position = 0;
      length = n;
      if (n == 0) {
        return false;
      }
    }
    int keyLength = intAt(position);
    int valueLength = intAt(position + 4);
    int start = position + 8;
    key.reset(in, start, keyLength);
    value.reset(in, start + keyLength, valueLength);
    position = start + keyLength + valueLength;
    return true;
  }

  private int intAt(int at) {
    return (in[at] & 255) << 24 | (in[at + 1] & 255) << 16 | (in[at + 2] & 255) << 8 | (in[at + 3] & 255);
  }

  @Override
  public DataInputBuffer getKey() {
    return key;
  }

  @Override
  public DataInputBuffer getValue() {
    return value;
  }

  @Override
  public void close() {}

  @Override
  public Progress getProgress() {
    return null;
  }

  @Override
  public void collect(K key, V value) throws IOException {
    writer.write(key, value, out);
    outputRecords.increment(1);
    if (++emitted % PROGRESS_RECORDS == 0) {
      reporter.progress();
    }
    if (out.position() >= BATCH_BYTES) {
      handOver();
    }
  }

  private void handOver() throws IOException {
    int end = out.position();
    if (end > 0) {
      int padded = out.padded(end);
      put(feed, out.bytes(), padded);
      out.shrink(BATCH_BYTES);
    }
  }

  private static native int next(long feed, byte[] into) throws IOException;

  private static native void put(long feed, byte[] records, int length) throws IOException;
}
