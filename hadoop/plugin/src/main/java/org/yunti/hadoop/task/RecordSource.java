package org.yunti.hadoop.task;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.mapreduce.MapContext;
import org.apache.hadoop.mapreduce.RecordReader;

/** Records of a Java reader as a stream of framed records (docs/formats/framed.md). */
final class RecordSource extends InputStream {
  private static final int HEADER_BYTES = 8;

  private interface Call<T> {
    T now() throws IOException, InterruptedException;
  }

  private final Call<Boolean> next;
  private final Call<?> key;
  private final Call<?> value;
  private final Closeable end;
  /** Frame that is being read, from {@code position} on. */
  private final DataOutputBuffer frame = new DataOutputBuffer();

  private int position;

  private RecordSource(Call<Boolean> next, Call<?> key, Call<?> value, Closeable end) {
    this.next = next;
    this.key = key;
    this.value = value;
    this.end = end;
  }

  /** Returns all records of a task. Hadoop counts them and closes the reader. */
  static RecordSource of(MapContext<?, ?, ?, ?> context) {
    return new RecordSource(
        context::nextKeyValue, context::getCurrentKey, context::getCurrentValue, () -> {});
  }

  static RecordSource of(RecordReader<?, ?> reader) {
    return new RecordSource(
        reader::nextKeyValue, reader::getCurrentKey, reader::getCurrentValue, reader);
  }

  /** Reads the next record into the frame; returns false at the end. */
  private boolean advance() throws IOException {
    try {
      if (!next.now()) {
        return false;
      }
      frame.reset();
      position = 0;
      frame.writeLong(0);
      NativeValue.append(key.now(), frame);
      int keyLength = frame.getLength() - HEADER_BYTES;
      NativeValue.append(value.now(), frame);
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
    end.close();
  }
}
