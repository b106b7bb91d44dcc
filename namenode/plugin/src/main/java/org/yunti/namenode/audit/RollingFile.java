package org.yunti.namenode.audit;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * Log file with rotation: a full file becomes FILE.1, FILE.1 becomes FILE.2, as in log4j's
 * {@code RollingFileAppender}.
 *
 * <p>It contains only whole lines: if the disk fills up within a line, the partial line is cut off and written again
 * later. Only one thread at a time may use it.
 */
final class RollingFile implements Closeable {
  private static final int BUFFER_BYTES = 256 << 10;
  private static final byte LINE_END = '\n';

  private final Path path;
  private final long bytesMax;
  private final int backupsMax;
  /** Whole lines that are not in the file yet. */
  private ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private FileChannel channel;
  private Object key;
  /** Bytes of the file and of the buffer. */
  private long bytes;
  /** Bytes written to files. */
  private long written;

  RollingFile(Path path, long bytesMax, int backupsMax) {
    this.path = path;
    this.bytesMax = bytesMax;
    this.backupsMax = backupsMax;
  }

  /** Opens the file, unless it is open; may be repeated after a failure. */
  void open() throws IOException {
    if (channel != null && channel.isOpen()) {
      return;
    }
    Path folder = path.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    key = key();
    bytes = channel.size() + buffer.position();
  }

  /**
   * Adds a line, and writes it at the latest by {@link #flush}.
   *
   * @throws IOException if earlier lines could not be written; the line is not added, and the caller may retry
   */
  void append(byte[] line) throws IOException {
    if (bytes >= bytesMax) {
      flush();
      roll();
    }
    if (line.length > buffer.remaining()) {
      flush();
      if (line.length > buffer.capacity()) {
        buffer = ByteBuffer.allocateDirect(line.length);
      }
    }
    buffer.put(line);
    bytes += line.length;
  }

  /** Writes the buffer. After a failure the buffer keeps the rest, from the start of a line. */
  void flush() throws IOException {
    open();
    buffer.flip();
    try {
      while (buffer.hasRemaining()) {
        written += channel.write(buffer);
      }
    } catch (IOException e) {
      cutLine();
      throw e;
    } finally {
      buffer.compact();
    }
  }

  /** Cuts the file back to the end of its last whole line. */
  private void cutLine() {
    int end = buffer.position();
    int begin = end;
    while (begin > 0 && buffer.get(begin - 1) != LINE_END) {
      begin--;
    }
    if (begin == end) {
      return;
    }
    try {
      channel.truncate(channel.size() - (end - begin));
      buffer.position(begin);
      written -= end - begin;
    } catch (IOException e) {
      // A pipe cannot be truncated: its line continues where it stopped.
    }
  }

  private void roll() throws IOException {
    if (backupsMax == 0) {
      channel.truncate(0);
      bytes = buffer.position();
      return;
    }
    close();
    Files.deleteIfExists(backup(backupsMax));
    for (int number = backupsMax - 1; number >= 1; number--) {
      moveIfThere(backup(number), backup(number + 1));
    }
    moveIfThere(path, backup(1));
    open();
  }

  private Path backup(int number) {
    return path.resolveSibling(path.getFileName() + "." + number);
  }

  private static void moveIfThere(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
    } catch (NoSuchFileException e) {
      // Another program removed the file.
    }
  }

  /** Opens a new file if another program moved or removed the current one. */
  void followName() throws IOException {
    if (channel != null && !isNamed()) {
      try {
        flush();
      } catch (IOException e) {
        // The new file may be on another disk: the rest goes there.
      }
      close();
    }
    open();
  }

  private boolean isNamed() {
    try {
      Object now = key();
      return now == null || now.equals(key);
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the identity of the file (device and inode), or null if the system has none. */
  private Object key() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /** Removes and returns the lines that are in no file. */
  byte[] giveUp() {
    buffer.flip();
    byte[] left = new byte[buffer.remaining()];
    buffer.get(left);
    buffer.clear();
    return left;
  }

  /** Returns the bytes written to files so far. */
  long written() {
    return written;
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      FileChannel closed = channel;
      channel = null;
      closed.close();
    }
  }
}
