package org.yunti.hadoop.collect;

import java.io.DataOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Batch of records for native code in one reused array: no object and no native call per record.
 *
 * <pre>
 *   | key length: u32 | value length: u32 | key | value | padding to 8 | ...      lengths little-endian
 * </pre>
 */
public final class RecordBatch extends OutputStream {
  static final int HEADER_BYTES = 8;

  /**
   * Bytes of an array that is kept after large records. If all records are large, a new array for each would cost more
   * than the record.
   */
  private static final int KEPT_BYTES = 4 << 20;

  /** Bytes of the largest array that every JVM can allocate. */
  private static final int BYTES_MAX = Integer.MAX_VALUE - 16;

  private final DataOutputStream data = new DataOutputStream(this);
  private byte[] bytes;
  /** View of {@code bytes} that writes big-endian numbers in one store. */
  private ByteBuffer numbers;

  private int position;

  public RecordBatch(int capacity) {
    use(new byte[capacity]);
  }

  private void use(byte[] array) {
    bytes = array;
    numbers = ByteBuffer.wrap(array);
  }

  /** Returns a stream for serializers that appends to this batch at once. */
  public DataOutputStream data() {
    return data;
  }

  /** Returns the number of bytes used. */
  public int position() {
    return position;
  }

  /** Drops the bytes from {@code end} on. */
  public void cutTo(int end) {
    position = end;
  }

  /** Returns a byte that was written. */
  public byte byteAt(int at) {
    return bytes[at];
  }

  /** Returns the array of the batch, until the next write. */
  public byte[] bytes() {
    return bytes;
  }

  void position(int to) {
    position = to;
  }

  /** Begins a record at the next multiple of 8; returns its offset. */
  int begin() {
    int start = (position + 7) & ~7;
    room(start - position + HEADER_BYTES);
    position = start + HEADER_BYTES;
    return start;
  }

  /** Writes the header of the record that began at {@code start}. */
  void end(int start, int keyLength) {
    int valueLength = position - start - HEADER_BYTES - keyLength;
    numbers.putInt(start, Integer.reverseBytes(keyLength));
    numbers.putInt(start + 4, Integer.reverseBytes(valueLength));
  }

  /** Returns the length of the batch up to a record that ends at {@code end}, padded to a multiple of 8. */
  int padded(int end) {
    int to = (end + 7) & ~7;
    if (to > bytes.length) {
      room(to - position);
    }
    return to;
  }

  /** Moves the record that began at {@code start} to the front and drops the records before it. */
  void keepFrom(int start) {
    System.arraycopy(bytes, start, bytes, 0, position - start);
    position -= start;
  }

  /** Empties the batch and releases the memory of a huge record. */
  public void shrink(int capacity) {
    position = 0;
    if (bytes.length > KEPT_BYTES) {
      use(new byte[capacity]);
    }
  }

  private void room(int more) {
    int need = position + more;
    if (need > bytes.length || need < 0) {
      grow(need);
    }
  }

  private void grow(int need) {
    if (need < 0 || need > BYTES_MAX) {
      throw new IllegalArgumentException("a record is larger than 2 GiB");
    }
    use(Arrays.copyOf(bytes, (int) Math.min(BYTES_MAX, Math.max(need, 2L * bytes.length))));
  }

  /** Appends bytes. */
  public void put(byte[] from, int offset, int length) {
    room(length);
    System.arraycopy(from, offset, bytes, position, length);
    position += length;
  }

  /** Appends a byte. */
  public void putByte(byte b) {
    room(1);
    bytes[position++] = b;
  }

  /** Appends two bytes, big-endian. */
  public void putShort(short n) {
    room(2);
    bytes[position++] = (byte) (n >> 8);
    bytes[position++] = (byte) n;
  }

  /** Appends four bytes, big-endian as in {@code DataOutput}. */
  public void putInt(int n) {
    room(4);
    numbers.putInt(position, n);
    position += 4;
  }

  /** Appends eight bytes, big-endian. */
  public void putLong(long n) {
    room(8);
    numbers.putLong(position, n);
    position += 8;
  }

  /** Appends eight bytes, little-endian as native code adds numbers. */
  void putSum(long n) {
    putLong(Long.reverseBytes(n));
  }

  /** Overwrites the four bytes at {@code at}, big-endian. */
  public void setInt(int at, int n) {
    numbers.putInt(at, n);
  }

  /** Returns one of the two lengths in a record's header. */
  int header(int at) {
    return Integer.reverseBytes(numbers.getInt(at));
  }

  @Override
  public void write(int b) {
    putByte((byte) b);
  }

  @Override
  public void write(byte[] from, int offset, int length) {
    put(from, offset, length);
  }
}
