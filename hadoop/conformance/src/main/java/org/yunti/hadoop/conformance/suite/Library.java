package org.yunti.hadoop.conformance.suite;

import java.nio.file.Files;
import java.nio.file.Path;

/** The classes in C++ of src/main/native, which the script that starts the suite compiles. */
final class Library {
  private static final String PROPERTY = "conformance.library";

  private Library() {}

  static Path path() {
    return Path.of(System.getProperty(PROPERTY, ""));
  }

  /** Why it cannot be used, or null. */
  static String obstacle() {
    return Files.isRegularFile(path()) ? null : "there is no class library: g++ is missing, or the suite was not started by its script";
  }
}
