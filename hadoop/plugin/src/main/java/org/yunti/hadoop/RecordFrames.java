package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.WritableUtils;
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
  private final long expectedBytes;
  private final Progress progress = new Reading();
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
  private byte[] batch = new byte[BATCH_BYTES];
  private int length;
  private int position;
  /** Bytes of the records that were read, as an IFile has them. */
  private long readBytes;

  private boolean isAtEnd;

  /** Fraction of the records that were read; computed when Hadoop requests it, which it does after each record. */
  private final class Reading extends Progress {
    @Override
    public synchronized float getProgress() {
      if (isAtEnd) {
        return 1;
      }
      return expectedBytes > 0 ? Math.min(1.0f, (float) readBytes / expectedBytes) : 0;
    }
  }

  /**
   * @param expectedBytes of all records, as an IFile has them without its end; the progress is the part of them that was read. 0 if
   *     nobody requests the progress.
   */
  public RecordFrames(Source source, long expectedBytes) {
    this.source = source;
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
    readBytes += keyLength + valueLength + WritableUtils.getVIntSize(keyLength) + WritableUtils.getVIntSize(valueLength);
    return true;
  }

  private boolean nextBatch() throws IOException {
    restart();
    int n = source.next(batch);
    if (n < 0) {
      batch = new byte[-n];
      n = source.next(batch);
    }
    length = n;
    isAtEnd = n == 0;
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
