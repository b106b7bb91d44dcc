package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;

/**
 * Iterator over sorted records of native code. Records arrive in batches ({@code frames.rs} defines the format),
 * without an object or a native call per record.
 */
public final class RecordFrames implements RawKeyValueIterator {
  private static final int BATCH_BYTES = 128 << 10;

  /** Source of the batches. */
  public interface Source {
    /**
     * Writes the next records into {@code into}. Returns the number of bytes written, 0 at the end, or the negated size
     * that the next call needs.
     */
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

  /** {@code progress}, if not null, goes from 0 to 1 with the bytes read out of {@code expectedBytes}. */
  public RecordFrames(Source source, Progress progress, long expectedBytes) {
    this.source = source;
    this.progress = progress;
    this.expectedBytes = expectedBytes;
  }

  /** Prepares for another partition. */
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
