package org.yunti.hadoop;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.WritableUtils;
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
  private final long expectedBytes;
  private final Progress progress = new Reading();
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
  private byte[] batch = new byte[BATCH_BYTES];
  private int length;
  private int position;
  /** Bytes of the records read so far, in the encoding of an IFile. */
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
   * @param expectedBytes bytes of all records in an IFile, without its end marker; the progress is the fraction read.
   *     0 if no caller requests the progress
   */
  public RecordFrames(Source source, long expectedBytes) {
    this.source = source;
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
