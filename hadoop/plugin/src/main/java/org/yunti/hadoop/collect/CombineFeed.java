package org.yunti.hadoop.collect;

import java.io.IOException;
import java.util.function.Function;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.yunti.hadoop.RecordFrames;
import org.yunti.hadoop.key.KeyCode;

/**
 * Java combiner over the sorted records of native code. The records of one partition come in batches, and the
 * combiner's output returns in batches. Native code calls {@link #combine}, which calls back into native code
 * (combine_feed.rs).
 */
public final class CombineFeed<K, V> implements OutputCollector<K, V> {
  private static final int BATCH_BYTES = 64 << 10;
  private static final int PROGRESS_RECORDS = 10_000;

  private final CombinerRunner<K, V> runner;
  private final RecordWriter<K, V> writer;
  private final RecordBatch out = new RecordBatch(BATCH_BYTES);
  private final Counters.Counter outputRecords;
  private final Reporter reporter;
  private final RecordFrames in = new RecordFrames(this::nextBatch, 0);

  private long feed;
  /** Exception of the combiner or of its output's serializers. */
  private Throwable failure;

  /** Exception of native code that the combiner called back. */
  private Throwable nativeFailure;

  private long emitted;

  public CombineFeed(
      CombinerRunner<K, V> runner, RecordWriter<K, V> writer, Counters.Counter outputRecords, Reporter reporter) {
    this.runner = runner;
    this.writer = writer;
    this.outputRecords = outputRecords;
    this.reporter = reporter;
  }

  /** Runs the combiner; native code calls it. {@code feed} is valid until it returns. */
  void combine(long feed) throws IOException, InterruptedException, ClassNotFoundException {
    this.feed = feed;
    in.restart();
    try {
      runner.combine(in, this);
      handOver();
      if (nativeFailure != null) {
        throw new IOException(nativeFailure);
      }
    } catch (Throwable e) {
      if (nativeFailure == null) {
        failure = e;
      }
      throw e;
    } finally {
      this.feed = 0;
      out.shrink(BATCH_BYTES);
    }
  }

  /**
   * Returns the exception to throw after a native call failed: the one of the code on keys or the combiner, unchanged,
   * or else the result of {@code failed}. {@code feed} is null if there is no combiner, {@code code} if native code
   * calls none.
   */
  public static IOException of(
      CombineFeed<?, ?> feed, KeyCode code, Throwable failure, Function<Throwable, IOException> failed) {
    Throwable own = ofUser(feed, code);
    if (own == null) {
      return ofNative(feed, failure, failed);
    }
    if (own instanceof RuntimeException) {
      throw (RuntimeException) own;
    }
    if (own instanceof Error) {
      throw (Error) own;
    }
    return own instanceof IOException ? (IOException) own : new IOException(own);
  }

  /**
   * Returns the exception for a failure during the collection: Hadoop spills in another thread and wraps its
   * exceptions.
   */
  static IOException ofSpill(
      CombineFeed<?, ?> feed, KeyCode code, Throwable failure, Function<Throwable, IOException> failed) {
    Throwable own = ofUser(feed, code);
    return own == null ? ofNative(feed, failure, failed) : new IOException("Spill failed", own);
  }

  /** Returns the exception of user code, or null. A combiner may fail because the code on its keys did. */
  private static Throwable ofUser(CombineFeed<?, ?> feed, KeyCode code) {
    if (code != null && code.failure() != null) {
      return code.failure();
    }
    return feed == null ? null : feed.failure;
  }

  private static IOException ofNative(
      CombineFeed<?, ?> feed, Throwable failure, Function<Throwable, IOException> failed) {
    return failed.apply(feed == null || feed.nativeFailure == null ? failure : feed.nativeFailure);
  }

  private int nextBatch(byte[] into) throws IOException {
    try {
      return next(feed, into);
    } catch (IOException | RuntimeException | LinkageError e) {
      nativeFailure = e;
      throw e;
    }
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
      try {
        put(feed, out.bytes(), padded);
      } catch (IOException | RuntimeException | LinkageError e) {
        nativeFailure = e;
        throw e;
      }
      out.shrink(BATCH_BYTES);
    }
  }

  private static native int next(long feed, byte[] into) throws IOException;

  private static native void put(long feed, byte[] records, int length) throws IOException;
}
