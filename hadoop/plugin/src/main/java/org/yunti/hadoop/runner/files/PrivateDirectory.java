package org.yunti.hadoop.runner.files;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;

/** A directory that no other user can read: a job's data and what its attempts print, as YARN keeps both. */
public final class PrivateDirectory {
  private PrivateDirectory() {}

  /** Makes the directory, if it does not exist, and those above it, which have the permissions of the user's umask. */
  public static void make(File directory) throws IOException {
    if (directory.isDirectory()) {
      return;
    }
    File above = directory.getAbsoluteFile().getParentFile();
    try {
      if (above != null) {
        Files.createDirectories(above.toPath());
      }
      Files.createDirectory(directory.toPath(),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      // Another thread made it.
      if (!directory.isDirectory()) {
        throw new IOException("cannot create " + directory + ": there is a file of this name", e);
      }
    } catch (IOException e) {
      throw new IOException("cannot create " + directory + ": " + e, e);
    }
  }
}
