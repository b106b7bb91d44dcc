package org.yunti.hadoop.warm;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writer of a tar file (POSIX.1-1988, "ustar"): a header of 512 bytes for each file, then its content in blocks of 512.
 * NodeManagers unpack it with the times of its files, in every time zone; a zip file has local times.
 *
 * <pre>
 *   0 name[100] | 100 mode[8] | 124 size[12] | 136 time[12] | 148 checksum[8] | 156 type | 257 "ustar" 0 "00" | 512
 * </pre>
 */
final class TarFile implements Closeable {
  private static final int BLOCK = 512;
  private static final int NAME_BYTES_MAX = 100;
  private static final int MODE = 100;
  private static final int OWNER = 108;
  private static final int GROUP = 116;
  private static final int SIZE = 124;
  private static final int TIME = 136;
  private static final int CHECKSUM = 148;
  private static final int TYPE = 156;
  private static final int MAGIC = 257;
  private static final int SHORT_FIELD = 8;
  private static final int LONG_FIELD = 12;
  private static final int READABLE = 0644;

  private final OutputStream out;

  TarFile(OutputStream out) {
    this.out = out;
  }

  /** Adds a file under a name of at most 100 bytes; its time is {@link Recording#TIME_S}. */
  void add(String name, Path file) throws IOException {
    long size = Files.size(file);
    header(name, size);
    long copied = Files.copy(file, out);
    if (copied != size) {
      throw new IOException("the file changed while it was copied: " + file);
    }
    out.write(new byte[(int) ((BLOCK - size % BLOCK) % BLOCK)]);
  }

  private void header(String name, long size) throws IOException {
    byte[] header = new byte[BLOCK];
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > NAME_BYTES_MAX) {
      throw new IOException("the name is longer than 100 bytes: " + name);
    }
    System.arraycopy(bytes, 0, header, 0, bytes.length);
    octal(header, MODE, SHORT_FIELD, READABLE);
    octal(header, OWNER, SHORT_FIELD, 0);
    octal(header, GROUP, SHORT_FIELD, 0);
    octal(header, SIZE, LONG_FIELD, size);
    octal(header, TIME, LONG_FIELD, Recording.TIME_S);
    header[TYPE] = '0';
    System.arraycopy("ustar\00000".getBytes(StandardCharsets.US_ASCII), 0, header, MAGIC, SHORT_FIELD);
    // The sum counts its own field as blanks.
    java.util.Arrays.fill(header, CHECKSUM, CHECKSUM + SHORT_FIELD, (byte) ' ');
    int sum = 0;
    for (byte b : header) {
      sum += b & 0xff;
    }
    octal(header, CHECKSUM, SHORT_FIELD - 1, sum);
    out.write(header);
  }

  /** Writes a number as octal digits and a zero byte. */
  private static void octal(byte[] header, int at, int length, long value) {
    String digits = String.format("%0" + (length - 1) + "o", value);
    System.arraycopy(digits.getBytes(StandardCharsets.US_ASCII), 0, header, at, length - 1);
    header[at + length - 1] = 0;
  }

  /** Writes the end, two empty blocks. */
  @Override
  public void close() throws IOException {
    out.write(new byte[2 * BLOCK]);
    out.close();
  }
}
