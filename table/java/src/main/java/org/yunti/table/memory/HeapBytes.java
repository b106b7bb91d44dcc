package org.yunti.table.memory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteOrder;

/**
 * Little-endian numbers in arrays: by the VarHandles of Java 9, and by shifts on Java 8. Handles that are constants
 * are inlined; Java 8 as a target has no VarHandles in its signatures.
 */
public final class HeapBytes {
  private static final MethodHandle GET_LONG = handle(long.class, long[].class, "shiftedLong");
  private static final MethodHandle GET_INT = handle(int.class, int[].class, "shiftedInt");

  private HeapBytes() {
  }

  private static MethodHandle handle(Class<?> number, Class<?> array, String shifted) {
    MethodType type = MethodType.methodType(number, byte[].class, int.class);
    try {
      Object handle = MethodHandles.class.getMethod("byteArrayViewVarHandle", Class.class, ByteOrder.class)
          .invoke(null, array, ByteOrder.LITTLE_ENDIAN);
      Class<?> mode = Class.forName("java.lang.invoke.VarHandle$AccessMode");
      Object get = mode.getMethod("valueOf", String.class).invoke(null, "GET");
      return ((MethodHandle) Class.forName("java.lang.invoke.VarHandle").getMethod("toMethodHandle", mode)
          .invoke(handle, get)).asType(type);
    } catch (ReflectiveOperationException before9) {
      try {
        return MethodHandles.lookup().findStatic(HeapBytes.class, shifted, type);
      } catch (ReflectiveOperationException e) {
        throw new AssertionError(e);
      }
    }
  }

  public static long getLong(byte[] bytes, int at) {
    try {
      return (long) GET_LONG.invokeExact(bytes, at);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  public static int getInt(byte[] bytes, int at) {
    try {
      return (int) GET_INT.invokeExact(bytes, at);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  private static RuntimeException unchecked(Throwable e) {
    if (e instanceof Error) {
      throw (Error) e;
    }
    return (RuntimeException) e;
  }

  static long shiftedLong(byte[] bytes, int at) {
    return shiftedInt(bytes, at) & 0xffff_ffffL | (long) shiftedInt(bytes, at + 4) << 32;
  }

  static int shiftedInt(byte[] bytes, int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24;
  }
}
