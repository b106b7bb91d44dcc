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
 * A file that lines are appended to; a full one becomes FILE.1, which was FILE.2 before, and so on, as log4j's {@code RollingFileAppender} has it.
 *
 * <p>It has whole lines alone, also where the disk was full in the middle of one: what is there of it is cut off, and it is written again later. Of one thread
 * at a time.
 */
final class RollingFile implements Closeable {
  private static final int BUFFER_BYTES = 256 << 10;
  private static final byte LINE_END = '\n';

  private final Path path;
  private final long bytesMax;
  private final int backupsMax;
  /** Whole lines; more than one of them where it is full. */
  private ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private FileChannel channel;
  private Object key;
  /** With those in the buffer. */
  private long bytes;
  private long written;

  RollingFile(Path path, long bytesMax, int backupsMax) {
    this.path = path;
    this.bytesMax = bytesMax;
    this.backupsMax = backupsMax;
  }

  /** May be called again after it has failed. */
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
   * Takes a line, and writes it by and by.
   *
   * @throws IOException it could not be taken, since those before it could not be written; to be tried again
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

  /** When it fails, what was not written is still there, from the beginning of a line on. */
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

  /** Back to the end of the last line that is whole. */
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
      // No file that can be cut, a pipe: its line goes on where it was left.
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
      // Somebody has removed it: one less to keep.
    }
  }

  /** Somebody else may have put the file aside, or removed it: the next lines go to a new one. */
  void followName() throws IOException {
    if (channel != null && !isNamed()) {
      try {
        flush();
      } catch (IOException e) {
        // The other one may be on a disk that has place: what this one did not take goes there.
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

  /** Which file it is; null where the system has no such thing. */
  private Object key() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /** What was taken and is in no file: given up. */
  byte[] giveUp() {
    buffer.flip();
    byte[] left = new byte[buffer.remaining()];
    buffer.get(left);
    buffer.clear();
    return left;
  }

  /** Bytes that are in files by now. */
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
