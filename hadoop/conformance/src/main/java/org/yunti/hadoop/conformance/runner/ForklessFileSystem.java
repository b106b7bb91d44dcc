package org.yunti.hadoop.conformance.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system, with permissions set and read by system calls. Without its native library, the original
 * starts a {@code chmod} process for each file and folder, and an {@code ls} for each listed one. They take half of a
 * small job.
 *
 * <p>It also writes no checksum files. Stock Hadoop counts their bytes, because it counts the operations of a file
 * system; native tasks count the bytes of their files.
 */
public final class ForklessFileSystem extends LocalFileSystem {
  public ForklessFileSystem() {
    super(new Raw());
    setVerifyChecksum(false);
    setWriteChecksum(false);
  }

  private static final class Raw extends RawLocalFileSystem {
    private static final PosixFilePermission[] FROM_HIGHEST_BIT =
        PosixFilePermission.values(); // OWNER_READ .. OTHERS_EXECUTE

    /** Returns a status that has the permission; the original's asks for it when it is listed. */
    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      FileStatus status = super.getFileStatus(path);
      PosixFileAttributes attributes =
          Files.readAttributes(pathToFile(path).toPath(), PosixFileAttributes.class);
      int bits = 0;
      for (int i = 0; i < FROM_HIGHEST_BIT.length; i++) {
        if (attributes.permissions().contains(FROM_HIGHEST_BIT[i])) {
          bits |= 1 << (8 - i);
        }
      }
      return new FileStatus(status.getLen(), status.isDirectory(), status.getReplication(), status.getBlockSize(),
          status.getModificationTime(), status.getAccessTime(), new FsPermission((short) bits),
          attributes.owner().getName(), attributes.group().getName(), status.getPath());
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      Set<PosixFilePermission> wanted = EnumSet.noneOf(PosixFilePermission.class);
      for (int i = 0; i < FROM_HIGHEST_BIT.length; i++) {
        if ((permission.toShort() >> (8 - i) & 1) != 0) {
          wanted.add(FROM_HIGHEST_BIT[i]);
        }
      }
      Files.setPosixFilePermissions(pathToFile(path).toPath(), wanted);
    }
  }
}
