package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;

/**
 * Types of keys and values in native classes, and their Java forms. {@code Text} and {@code BytesWritable} are their
 * bytes, numbers are little-endian as in the C ABI. {@code NullWritable} is empty, and every other class is its
 * serialised form.
 */
enum NativeValue {
  NONE(NullWritable.class),
  BYTES(Text.class),
  I32(IntWritable.class),
  I64(LongWritable.class),
  U32(LongWritable.class),
  U64(LongWritable.class),
  F32(FloatWritable.class),
  F64(DoubleWritable.class);

  /** Java class of such a value if the job names none. */
  final Class<? extends Writable> usual;

  NativeValue(Class<? extends Writable> usual) {
    this.usual = usual;
  }

  /** Appends the native form of a Java object. */
  static void append(Object value, DataOutputBuffer to) throws IOException {
    if (value instanceof Text) {
      Text text = (Text) value;
      to.write(text.getBytes(), 0, text.getLength());
    } else if (value instanceof BytesWritable) {
      BytesWritable bytes = (BytesWritable) value;
      to.write(bytes.getBytes(), 0, bytes.getLength());
    } else if (value instanceof LongWritable) {
      to.writeLong(Long.reverseBytes(((LongWritable) value).get()));
    } else if (value instanceof IntWritable) {
      to.writeInt(Integer.reverseBytes(((IntWritable) value).get()));
    } else if (value instanceof DoubleWritable) {
      to.writeLong(Long.reverseBytes(Double.doubleToLongBits(((DoubleWritable) value).get())));
    } else if (value instanceof FloatWritable) {
      to.writeInt(Integer.reverseBytes(Float.floatToIntBits(((FloatWritable) value).get())));
    } else if (value instanceof Writable) {
      ((Writable) value).write(to);
    } else {
      throw new IOException("Yunti: " + (value == null ? "null" : value.getClass().getName()) + " is not a Writable");
    }
  }

  /** Converts a native value of this type into a Java object. */
  void read(byte[] bytes, int offset, int length, Writable into, DataInputBuffer buffer) throws IOException {
    if (into instanceof Text) {
      if (this == BYTES || this == NONE) {
        ((Text) into).set(bytes, offset, length);
      } else {
        ((Text) into).set(printed(bytes, offset, length));
      }
    } else if (into instanceof BytesWritable) {
      ((BytesWritable) into).set(bytes, offset, length);
    } else if (into instanceof LongWritable) {
      ((LongWritable) into).set(whole(bytes, offset, length, into));
    } else if (into instanceof IntWritable) {
      long n = whole(bytes, offset, length, into);
      if (n != (int) n) {
        throw new IOException("Yunti: " + n + " does not fit into an IntWritable: use LongWritable");
      }
      ((IntWritable) into).set((int) n);
    } else if (into instanceof DoubleWritable) {
      ((DoubleWritable) into).set(real(bytes, offset, length, into));
    } else if (into instanceof FloatWritable) {
      ((FloatWritable) into).set((float) real(bytes, offset, length, into));
    } else if (!(into instanceof NullWritable)) {
      buffer.reset(bytes, offset, length);
      into.readFields(buffer);
    }
  }

  private String printed(byte[] bytes, int offset, int length) throws IOException {
    switch (this) {
      case U64:
        return Long.toUnsignedString(little(bytes, offset, length));
      case F32:
        return Float.toString(Float.intBitsToFloat((int) little(bytes, offset, length)));
      case F64:
        return Double.toString(Double.longBitsToDouble(little(bytes, offset, length)));
      default:
        return Long.toString(whole(bytes, offset, length, null));
    }
  }

  private long whole(byte[] bytes, int offset, int length, Writable into) throws IOException {
    long n = little(bytes, offset, length);
    switch (this) {
      case F32:
      case F64:
        throw mismatch(into);
      case U64:
        if (n < 0) {
          throw new IOException("Yunti: " + Long.toUnsignedString(n) + " does not fit into a LongWritable: use Text");
        }
        return n;
      case U32:
        return n & 0xffff_ffffL;
      default:
        return n;
    }
  }

  private double real(byte[] bytes, int offset, int length, Writable into) throws IOException {
    long n = little(bytes, offset, length);
    switch (this) {
      case F32:
        return Float.intBitsToFloat((int) n);
      case F64:
        return Double.longBitsToDouble(n);
      case BYTES:
        // A class without a type: the bytes are the native form of the Java object.
        return into instanceof FloatWritable ? Float.intBitsToFloat((int) n) : Double.longBitsToDouble(n);
      default:
        throw mismatch(into);
    }
  }

  private IOException mismatch(Writable into) {
    return new IOException("Yunti: a value of type " + name().toLowerCase(java.util.Locale.ROOT) + " is not a " + into.getClass().getSimpleName());
  }

  private static long little(byte[] bytes, int offset, int length) throws IOException {
    if (length != 4 && length != 8) {
      throw new IOException("Yunti: " + length + " bytes are not a number: choose another class with mapreduce.job.output.key.class or .value.class");
    }
    long n = 0;
    for (int i = length - 1; i >= 0; i--) {
      n = n << 8 | bytes[offset + i] & 0xff;
    }
    return length == 4 ? (int) n : n;
  }
}
