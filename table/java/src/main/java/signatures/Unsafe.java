package sun.misc;

/** Signatures for the compiler: {@code --release 8} hides the class, and the jar leaves this one out. */
public final class Unsafe {
  private Unsafe() {
  }

  public native byte getByte(long address);

  public native short getShort(long address);

  public native int getInt(long address);

  public native long getLong(long address);

  public native int getInt(Object object, long offset);

  public native long getLong(Object object, long offset);

  public native Object getObject(Object object, long offset);

  public native int arrayBaseOffset(Class<?> type);

  public native long objectFieldOffset(java.lang.reflect.Field field);

  public native long staticFieldOffset(java.lang.reflect.Field field);

  public native Object staticFieldBase(java.lang.reflect.Field field);

  public native void copyMemory(Object source, long sourceOffset, Object target, long targetOffset, long bytes);
}
