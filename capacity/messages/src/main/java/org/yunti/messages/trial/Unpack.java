package org.yunti.messages.trial;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Unpacks a jar with jars inside, as Spring Boot and war files have, into a folder: {@code JAR FOLDER}. Prints the jars
 * of its class path, a line each.
 */
public final class Unpack {
  private static final List<String> CLASSES = List.of("BOOT-INF/classes/", "WEB-INF/classes/");
  private static final List<String> LIBRARIES = List.of("BOOT-INF/lib/", "WEB-INF/lib/");

  private Unpack() {}

  public static void main(String[] words) throws IOException {
    Path folder = Path.of(words[1]);
    List<Path> made = new ArrayList<>();
    Path classes = folder.resolve("unpacked-classes.jar");
    try (ZipFile zip = new ZipFile(words[0]); ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(classes))) {
      made.add(classes);
      for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
        ZipEntry entry = all.nextElement();
        String name = entry.getName();
        String inClasses = after(CLASSES, name);
        String inLibraries = after(LIBRARIES, name);
        if (entry.isDirectory()) {
          continue;
        }
        try (InputStream in = zip.getInputStream(entry)) {
          if (inClasses != null) {
            out.putNextEntry(new ZipEntry(inClasses));
            in.transferTo(out);
          } else if (inLibraries != null && inLibraries.endsWith(".jar") && !inLibraries.contains("/")) {
            Path to = folder.resolve("unpacked-" + inLibraries);
            Files.copy(in, to);
            made.add(to);
          }
        }
      }
    }
    made.forEach(System.out::println);
  }

  private static String after(List<String> prefixes, String name) {
    for (String prefix : prefixes) {
      if (name.startsWith(prefix)) {
        return name.substring(prefix.length());
      }
    }
    return null;
  }
}
