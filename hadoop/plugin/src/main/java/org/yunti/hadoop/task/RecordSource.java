package org.yunti.hadoop.task;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.mapreduce.MapContext;
import org.apache.hadoop.mapreduce.RecordReader;

/** The records of a reader of Java's as a stream of framed records (docs/formats/framed.md). */
final class RecordSource extends InputStream {
  private static final int HEADER_BYTES = 8;

  /** What a task's context and a record reader have in common. */
  private interface Records {
    boolean next() throws IOException, InterruptedException;

    Object key() throws IOException, InterruptedException;

    Object value() throws IOException, InterruptedException;

    void close() throws IOException;
  }

  private final Records records;
  /** The frame that is handed out, from {@code position} on. */
  private final DataOutputBuffer frame = new DataOutputBuffer();

  private int position;

  private RecordSource(Records records) {
    this.records = records;
  }

  /** All records of a task. Hadoop counts them, and closes its reader. */
  static RecordSource of(MapContext<?, ?, ?, ?> context) {
    return new RecordSource(
        new Records() {
          @Override
          public boolean next() throws IOException, InterruptedException {
            return context.nextKeyValue();
          }

          @Override
          public Object key() throws IOException, InterruptedException {
            return context.getCurrentKey();
          }

          @Override
          public Object value() throws IOException, InterruptedException {
            return context.getCurrentValue();
          }

          @Override
          public void close() {}
        });
  }

  static RecordSource of(RecordReader<?, ?> reader) {
    return new RecordSource(
        new Records() {
          @Override
          public boolean next() throws IOException, InterruptedException {
            return reader.nextKeyValue();
          }

          @Override
          public Object key() throws IOException, InterruptedException {
            return reader.getCurrentKey();
          }

          @Override
          public Object value() throws IOException, InterruptedException {
            return reader.getCurrentValue();
          }

          @Override
          public void close() throws IOException {
            reader.close();
          }
        });
  }

  /** Makes the next record the frame; false at the end. */
  private boolean advance() throws IOException {
    try {
      if (!records.next()) {
        return false;
      }
      frame.reset();
      position = 0;
      frame.writeLong(0);
      NativeValue.append(records.key(), frame);
      int keyLength = frame.getLength() - HEADER_BYTES;
      NativeValue.append(records.value(), frame);
      frame.writeInt(keyLength, 0);
      frame.writeInt(frame.getLength() - HEADER_BYTES - keyLength, 4);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted while reading records").initCause(e);
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      if (position == frame.getLength() && !advance()) {
        break;
      }
      int n = Math.min(length - done, frame.getLength() - position);
      System.arraycopy(frame.getData(), position, into, offset + done, n);
      position += n;
      done += n;
    }
    return done == 0 && length > 0 ? -1 : done;
  }

  @Override
  public void close() throws IOException {
    records.close();
  }
}
