package org.yunti.hadoop.task;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.util.ReflectionUtils;

/** Stream of framed records (docs/formats/framed.md) that a Java writer writes through a task's context. */
final class RecordSink extends OutputStream {
  private static final int HEADER_BYTES = 8;

  private final TaskInputOutputContext<?, ?, Object, Object> context;
  private final NativeValue keyType;
  private final NativeValue valueType;
  private final Writable key;
  private final Writable value;
  private final DataInputBuffer buffer = new DataInputBuffer();
  /** First {@code held} bytes: the beginning of an incomplete record. */
  private byte[] rest = new byte[1 << 16];

  private int held;

  RecordSink(TaskInputOutputContext<?, ?, Object, Object> context, NativeValue keyType, NativeValue valueType)
      throws IOException {
    this.context = context;
    this.keyType = keyType;
    this.valueType = valueType;
    key = instance(context.getOutputKeyClass());
    value = instance(context.getOutputValueClass());
  }

  private Writable instance(Class<?> of) throws IOException {
    if (!Writable.class.isAssignableFrom(of)) {
      throw new IOException("Yunti: the output class " + of.getName() + " is not a Writable");
    }
    return (Writable) ReflectionUtils.newInstance(of, context.getConfiguration());
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] from, int offset, int length) throws IOException {
    if (held + length > rest.length || held + length < 0) {
      rest = Arrays.copyOf(rest, (int) Math.min(Integer.MAX_VALUE - 16, Math.max(held + (long) length, 2L * rest.length)));
    }
    System.arraycopy(from, offset, rest, held, length);
    held += length;
    ByteBuffer frames = ByteBuffer.wrap(rest, 0, held);
    int at = 0;
    while (held - at >= HEADER_BYTES) {
      int keyLength = frames.getInt(at);
      int valueLength = frames.getInt(at + 4);
      int end = at + HEADER_BYTES + keyLength + valueLength;
      if (end > held || end < 0) {
        break;
      }
      record(at + HEADER_BYTES, keyLength, valueLength);
      at = end;
    }
    System.arraycopy(rest, at, rest, 0, held - at);
    held -= at;
  }

  private void record(int at, int keyLength, int valueLength) throws IOException {
    keyType.read(rest, at, keyLength, key, buffer);
    valueType.read(rest, at + keyLength, valueLength, value, buffer);
    try {
      context.write(key, value);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted while writing records").initCause(e);
    }
  }

  @Override
  public void close() throws IOException {
    if (held > 0) {
      held = 0;
      throw new IOException("Yunti: the output ends within a record");
    }
  }
}
