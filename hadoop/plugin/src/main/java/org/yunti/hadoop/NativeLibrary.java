package org.yunti.hadoop;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
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
      Path unpacked = Files.createTempFile("libyunti_hadoop", ".so");
      try {
        Files.copy(in, unpacked, StandardCopyOption.REPLACE_EXISTING);
        System.load(unpacked.toString());
      } finally {
        Files.deleteIfExists(unpacked);
      }
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
