package org.yunti.hadoop;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Native library, loaded from the jar of this class; nodes need no installation. The file is unpacked to the task's
 * temporary directory, loaded, and deleted while it stays mapped.
 */
public final class NativeLibrary {
  /** System property: a file to load instead of the one in the jar, for sanitizer builds and other platforms. */
  public static final String FILE_PROPERTY = "yunti.hadoop.library";

  private static final String UNPACKED = "libyunti_hadoop";

  /** Age of an unpacked file, in milliseconds, from which no JVM will load it: that follows at once. */
  private static final long LEFT_OVER_MS = 3_600_000;

  private static Declined failure;
  private static boolean loaded;

  private NativeLibrary() {}

  /**
   * Loads the library, once per class loader. Throws {@link Declined} if the jar has none for this platform or loading
   * fails; later calls throw the same.
   */
  public static synchronized void load() throws Declined {
    if (loaded) {
      return;
    }
    if (failure == null) {
      try {
        loadOnce();
        loaded = true;
        return;
      } catch (Declined e) {
        failure = e;
      } catch (IOException | LinkageError | RuntimeException e) {
        failure = new Declined("native library: " + e.getMessage(), e);
      }
    }
    throw failure;
  }

  private static void loadOnce() throws IOException {
    String file = System.getProperty(FILE_PROPERTY);
    if (file != null) {
      System.load(Paths.get(file).toAbsolutePath().toString());
      return;
    }
    String name = resource();
    try (InputStream in = NativeLibrary.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new Declined("platform: the jar has no library for " + platform());
      }
      Path unpacked = Files.createTempFile(UNPACKED, ".so");
      try {
        Files.copy(in, unpacked, StandardCopyOption.REPLACE_EXISTING);
        System.load(unpacked.toString());
      } finally {
        Files.deleteIfExists(unpacked);
      }
      deleteLeftovers(unpacked.getParent());
    }
  }

  /** Deletes files of JVMs that were killed while they unpacked the library. Those of other users stay. */
  private static void deleteLeftovers(Path directory) {
    long oldest_ms = System.currentTimeMillis() - LEFT_OVER_MS;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, UNPACKED + "*.so")) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toMillis() < oldest_ms) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // Another JVM deleted the file, or it is another user's.
    }
  }

  private static String resource() {
    return "/org/yunti/hadoop/native/" + platform() + "/libyunti_hadoop.so";
  }

  private static String platform() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch");
    return os + "-" + ("amd64".equals(arch) ? "x86_64" : arch);
  }
}
