package org.yunti.hadoop.conformance.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system, with permissions set by a system call. Without its native library, the original starts a
 * {@code chmod} process for each file and folder, which takes half of a small job.
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
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      Set<PosixFilePermission> wanted = EnumSet.noneOf(PosixFilePermission.class);
      PosixFilePermission[] fromHighestBit = PosixFilePermission.values(); // OWNER_READ .. OTHERS_EXECUTE
      for (int i = 0; i < fromHighestBit.length; i++) {
        if ((permission.toShort() >> (8 - i) & 1) != 0) {
          wanted.add(fromHighestBit[i]);
        }
      }
      Files.setPosixFilePermissions(pathToFile(path).toPath(), wanted);
    }
  }
}
