package org.yunti.hadoop.warm;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * Steps of a recording in a container, started by {@code warm.sh}: before the recorded JVM, its class path is made;
 * after it, its archive is copied to the cluster's file system.
 *
 * <p>The JVM refuses to archive if a directory with files is on the class path, and a container has two: its own and
 * the cluster's configuration. So each directory is an empty jar whose manifest names the directory by a URL. Java
 * follows the URL; the JVM takes it for a file name that does not exist.
 *
 * <pre>
 *   NAME/class-path    yunti-warm/directory-0.jar:/opt/hadoop/a.jar:..:yunti-warm/yunti-hadoop.jar
 *   NAME/entries       directory /etc/hadoop | jar /opt/hadoop/a.jar SIZE TIME | ..
 *   NAME/java          the file `release` of the node's Java
 *   NAME/KIND.jsa      map, reduce, am
 * </pre>
 *
 * The paths in {@code NAME} are relative, so they are the same in each container. The JVM compares sizes and times of
 * jars: those in {@code NAME} have a fixed time, and their bytes depend on their content alone.
 */
public final class Recording {
  /** Directory of a container, whatever container it is. */
  private static final String WORKING_DIRECTORY = "/proc/self/cwd/";

  private static final String DIRECTORY = "directory ";
  private static final String JAR = "jar ";

  /** Seconds since 1970 of all files in an archive: any fixed time. */
  static final long TIME_S = 1_000_000_000;

  private Recording() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments[0].equals("prepare")) {
      prepare(Paths.get(arguments[1]), Paths.get(arguments[2]));
    } else {
      keep(arguments[1], arguments[2]);
    }
  }

  /** Makes {@code class-path} of {@code entries}, and the jars in {@code name}. */
  private static void prepare(Path name, Path jobJar) throws IOException {
    List<String> path = new ArrayList<>();
    path.add(pointer(name, 0, WORKING_DIRECTORY));
    for (String entry : Files.readAllLines(name.resolve("entries"), StandardCharsets.UTF_8)) {
      if (entry.startsWith(DIRECTORY)) {
        path.add(pointer(name, path.size(), entry.substring(DIRECTORY.length())));
      } else if (entry.startsWith(JAR)) {
        path.add(entry.substring(JAR.length()).replaceFirst(" \\d+ \\d+$", ""));
      } else {
        throw new IOException("neither a jar nor a directory is on the class path: " + entry);
      }
    }
    path.add(own(name, jobJar));
    Files.write(name.resolve("class-path"), String.join(":", path).getBytes(StandardCharsets.UTF_8));
  }

  /** Makes a jar that stands for a directory on the class path, and returns its path. */
  private static String pointer(Path name, int number, String directory) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, url(directory));
    Path jar = name.resolve("directory-" + number + ".jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      java.util.zip.ZipEntry entry = new java.util.zip.ZipEntry(java.util.jar.JarFile.MANIFEST_NAME);
      entry.setTime(0); // The earliest time of a zip file, in every time zone.
      out.putNextEntry(entry);
      manifest.write(out);
    }
    return fix(jar);
  }

  private static String url(String directory) throws IOException {
    // A relative path is of the container.
    String path = (directory.startsWith("/") ? directory : WORKING_DIRECTORY + directory).replaceFirst("/*$", "/");
    try {
      return new java.net.URI("file", null, path, null).toASCIIString();
    } catch (java.net.URISyntaxException e) {
      throw new IOException("a directory on the class path has no URL: " + directory, e);
    }
  }

  /** Copies the jar of this class, which is the job's, and returns its path. */
  private static String own(Path name, Path jobJar) throws IOException {
    File[] jars = jobJar.toFile().listFiles((folder, file) -> file.endsWith(".jar"));
    if (jars == null || jars.length != 1) {
      throw new IOException("the container has no " + jobJar + " with one jar");
    }
    return fix(Files.copy(jars[0].toPath(), name.resolve("yunti-hadoop.jar"), StandardCopyOption.REPLACE_EXISTING));
  }

  private static String fix(Path jar) throws IOException {
    Files.setLastModifiedTime(jar, FileTime.from(TIME_S, java.util.concurrent.TimeUnit.SECONDS));
    return jar.toString();
  }

  /** Copies what the container of a kind made to {@code folder/KIND}, which appears when it is complete. */
  private static void keep(String kind, String folder) throws IOException {
    Configuration conf = new Configuration();
    org.apache.hadoop.fs.Path target = new org.apache.hadoop.fs.Path(folder, kind);
    org.apache.hadoop.fs.Path part = target.suffix(".part");
    FileSystem files = target.getFileSystem(conf);
    files.delete(part, true);
    files.mkdirs(part);
    File[] made = new File(WarmStart.NAME).listFiles();
    File failed = new File(WarmStart.NAME + ".failed");
    if (failed.exists() || made == null) {
      try (OutputStream out = files.create(new org.apache.hadoop.fs.Path(part, "failed"))) {
        out.write(failed.exists() ? Files.readAllBytes(failed.toPath()) : new byte[0]);
      }
    } else {
      for (File file : made) {
        org.apache.hadoop.fs.Path to = new org.apache.hadoop.fs.Path(part, file.getName());
        files.copyFromLocalFile(new org.apache.hadoop.fs.Path(file.toURI()), to);
      }
    }
    files.rename(part, target);
  }
}
