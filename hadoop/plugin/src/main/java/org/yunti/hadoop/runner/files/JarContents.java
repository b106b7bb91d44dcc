package org.yunti.hadoop.runner.files;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.apache.hadoop.util.RunJar;

/** Class path of a job's jar: the jar itself, and the directories classes and lib in it, which are unpacked. */
public final class JarContents {
  private JarContents() {}

  /**
   * Returns true if a jar has entries to unpack.
   *
   * @param unpacked names of these entries
   */
  public static boolean hasInner(File jar, Pattern unpacked) throws IOException {
    if (!jar.isFile()) {
      return false;
    }
    try (JarFile file = new JarFile(jar)) {
      for (Enumeration<JarEntry> entries = file.entries(); entries.hasMoreElements();) {
        JarEntry entry = entries.nextElement();
        if (!entry.isDirectory() && unpacked.matcher(entry.getName()).matches()) {
          return true;
        }
      }
    }
    return false;
  }

  /** Unpacks entries of a jar; returns the class path of what was unpacked. */
  public static List<URL> unpack(File jar, File to, Pattern unpacked) throws IOException {
    RunJar.unJar(jar, to, unpacked);
    List<URL> found = new ArrayList<>();
    found.add(new File(to, "classes").toURI().toURL());
    File[] libraries = new File(to, "lib").listFiles();
    if (libraries != null) {
      Arrays.sort(libraries);
      for (File library : libraries) {
        found.add(library.toURI().toURL());
      }
    }
    return found;
  }
}
