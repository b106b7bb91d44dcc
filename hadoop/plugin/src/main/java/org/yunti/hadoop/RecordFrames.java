package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;

/**
 * Sorted records of native code as Hadoop iterates over them: they come in batches, without an object or a native call a record
 * (the format is in {@code frames.rs}).
 */
public final class RecordFrames implements RawKeyValueIterator {
  private static final int BATCH_BYTES = 128 << 10;

  /** Where batches come from. */
  public interface Source {
    /** The next records; 0 at the end; negative: the bytes that they need, and the next call gives them. */
    int next(byte[] into) throws IOException;
  }

  private final Source source;
  private final Progress progress;
  private final long expectedBytes;
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
  private byte[] batch = new byte[BATCH_BYTES];
  private int length;
  private int position;
  private long bytesBefore;

  /** {@code progress} goes from 0 to 1 with the bytes that were read of {@code expectedBytes}; null: nobody asks. */
  public RecordFrames(Source source, Progress progress, long expectedBytes) {
    this.source = source;
    this.progress = progress;
    this.expectedBytes = expectedBytes;
  }

  /** Begins another partition. */
  public void restart() {
    length = 0;
    position = 0;
  }

  @Override
  public boolean next() throws IOException {
    if (position == length && !nextBatch()) {
      return false;
    }
    int keyLength = intAt(position);
    int valueLength = intAt(position + 4);
    int start = position + 8;
    key.reset(batch, start, keyLength);
    value.reset(batch, start + keyLength, valueLength);
    position = start + keyLength + valueLength;
    return true;
  }

  private boolean nextBatch() throws IOException {
    bytesBefore += length;
    restart();
    int n = source.next(batch);
    if (n < 0) {
      batch = new byte[-n];
      n = source.next(batch);
    }
    length = n;
    if (progress != null && expectedBytes > 0) {
      progress.set(Math.min(1.0f, (float) bytesBefore / expectedBytes));
    }
    return n > 0;
  }

  private int intAt(int at) {
    return (batch[at] & 255) << 24
        | (batch[at + 1] & 255) << 16
        | (batch[at + 2] & 255) << 8
        | (batch[at + 3] & 255);
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
  public Progress getProgress() {
    return progress;
  }

  @Override
  public void close() throws IOException {}
}
