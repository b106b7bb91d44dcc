package org.yunti.table.memory;

/**
 * Memory by an array: a response of a server. A JVM loads this class with its first client of tables; until then the
 * memory of files is the one class that the JIT inlines.
 */
public final class ArrayMemory extends Memory {
  private final byte[] bytes;

  public ArrayMemory(String name, byte[] bytes) {
    super(name, bytes.length);
    this.bytes = bytes;
  }

  @Override
  public byte getByte(long at) {
    check(at, 1);
    return bytes[(int) at];
  }

  @Override
  public short getShort(long at) {
    check(at, 2);
    return (short) (bytes[(int) at] & 0xff | bytes[(int) at + 1] << 8);
  }

  @Override
  public int getInt(long at) {
    check(at, 4);
    return HeapBytes.getInt(bytes, (int) at);
  }

  @Override
  public long getLong(long at) {
    check(at, 8);
    return HeapBytes.getLong(bytes, (int) at);
  }

  @Override
  public void copy(long at, byte[] target, int offset, int length) {
    check(at, length);
    System.arraycopy(bytes, (int) at, target, offset, length);
  }

  @Override
  void release() {
    // The garbage collector takes the array.
  }

  @Override
  public String kind() {
    return "array";
  }
}
