package org.yunti.table.memory;

import java.io.IOException;

/** Bytes of a file that is read by position, such as one of a distributed file system. */
@FunctionalInterface
public interface PositionedBytes {
  /** Reads exactly {@code length} bytes at a position of the file. */
  void readFully(long at, byte[] target, int offset, int length) throws IOException;
}
