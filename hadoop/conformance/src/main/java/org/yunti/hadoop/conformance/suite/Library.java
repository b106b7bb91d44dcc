package org.yunti.hadoop.conformance.suite;

import java.nio.file.Files;
import java.nio.file.Path;

/** C++ classes of src/main/native, which the script that starts the suite compiles. */
final class Library {
  private static final String PROPERTY = "conformance.library";

  private Library() {}

  static Path path() {
    return Path.of(System.getProperty(PROPERTY, ""));
  }

  /** Returns why the library cannot be used, or null. */
  static String obstacle() {
    return Files.isRegularFile(path()) ? null : "no class library: install g++ and start the suite with hadoop/conformance/run";
  }
}
