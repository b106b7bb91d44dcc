package org.yunti.table.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.util.ClassUtil;
import org.yunti.table.SharedTable;

/**
 * Tables of a MapReduce job. The distributed cache brings each to a node once, and all tasks of the node map this copy.
 *
 * <pre>{@code
 *   SharedTables.add(job, "users", new Path("hdfs:///tables/users.ytab"));   // in the driver
 *   users = SharedTables.open(context, "users");                             // in setup(), closed by cleanup()
 * }</pre>
 *
 * <p>The table is a file of the job's cache, and a setting {@code yunti.table.NAME} has its place in a task's working
 * directory. So a driver needs no code for it:
 * {@code -files hdfs:///tables/users.ytab} alone makes {@code users} a table of the job.
 */
public final class SharedTables {
  /** Begin of the setting with the place of a table; its name follows. Native tasks have the same setting. */
  public static final String SETTING = "yunti.table.";

  /** Ending of a table's file, also of its link in a task's directory. */
  private static final String ENDING = ".ytab";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]+");
  /** Settings of {@code -files}, {@code -libjars} and {@code Job.addCacheFile}. */
  private static final String SHIPPED_FILES = "tmpfiles";
  private static final String SHIPPED_JARS = "tmpjars";
  private static final String CACHE_FILES = "mapreduce.job.cache.files";

  private SharedTables() {}

  /**
   * Adds a table to a job that is not yet submitted, and the jars that read it.
   *
   * @param name letters, digits, {@code _}, {@code -} and {@code .}
   * @param table a file that all nodes read, such as one of HDFS; one of this machine is uploaded with the job
   * @throws FileNotFoundException if there is no such file
   * @throws org.yunti.table.TableException if it is no table, or damaged
   * @throws IllegalArgumentException if the name is wrong, or the job has another table of this name
   */
  public static void add(Job job, String name, Path table) throws IOException {
    add(job.getConfiguration(), name, table);
  }

  /** Adds a table to the settings of a job, such as a {@code JobConf}. */
  public static void add(Configuration job, String name, Path table) throws IOException {
    requireName(name);
    FileSystem files = table.getFileSystem(job);
    Path file = files.makeQualified(table);
    check(files, file);
    String place = place(file, name + ENDING);
    boolean isUploaded = "file".equals(file.toUri().getScheme()) && !isLocal(job);
    String setting = isUploaded ? SHIPPED_FILES : CACHE_FILES;
    List<String> shipped = list(job, setting);
    if (!shipped.contains(place)) {
      requireFree(job, name, place);
      shipped.add(place);
      job.set(setting, String.join(",", shipped));
    }
    job.set(SETTING + name, name + ENDING);
    addJar(job, SharedTable.class);
    addJar(job, SharedTables.class);
  }

  /** Opens a table of the job in one of its tasks. The caller closes it; closing changes no other task. */
  public static SharedTable open(JobContext task, String name) throws IOException {
    return open(task.getConfiguration(), name);
  }

  /** Opens a table of the job in one of its tasks, by the task's settings. */
  public static SharedTable open(Configuration task, String name) throws IOException {
    return SharedTable.open(file(task, name));
  }

  /**
   * Returns the node's copy of a table, for other readers and for {@code SharedTable.open} with options.
   *
   * @throws FileNotFoundException if the job has no such table
   */
  public static java.nio.file.Path file(Configuration task, String name) throws IOException {
    requireName(name);
    java.nio.file.Path link = Paths.get(task.get(SETTING + name, name + ENDING));
    if (!Files.exists(link)) {
      throw new FileNotFoundException("the job has no table " + name + " (" + link.toAbsolutePath() + "): add it by "
          + "SharedTables.add, or by -files FILE#" + name + ENDING);
    }
    return link.toRealPath();
  }

  private static void requireName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("'" + name + "' is no name of a table: use letters, digits, _, - and .");
    }
  }

  /** Checks the table before a task fails: all but its rows, whose blocks are checked when they are first used. */
  private static void check(FileSystem files, Path file) throws IOException {
    FileStatus found;
    try {
      found = files.getFileStatus(file);
    } catch (FileNotFoundException e) {
      FileNotFoundException missing =
          new FileNotFoundException("there is no table " + file + ": check the path, or copy it there by hdfs dfs -put");
      missing.initCause(e);
      throw missing;
    }
    if (found.isDirectory()) {
      throw new IOException(file + " is a directory, and no table: name the file that yunti table build wrote");
    }
    try (FSDataInputStream bytes = files.open(file)) {
      SharedTable.check(file.toString(), found.getLen(), bytes::readFully);
    }
  }

  /** Returns the file with its place in a task's directory, as the cache has it. */
  private static String place(Path file, String link) {
    URI uri = file.toUri();
    if (uri.getPath().contains(",")) {
      throw new IllegalArgumentException(file + " has a comma, which separates the files of a job: rename it");
    }
    try {
      return new URI(uri.getScheme(), uri.getAuthority(), uri.getPath(), null, link).toString();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(file + " is no address of a file: " + e.getMessage(), e);
    }
  }

  /** Returns true if the job's own files are local ones: then the nodes are this machine. */
  private static boolean isLocal(Configuration job) {
    return "file".equals(FileSystem.getDefaultUri(job).getScheme());
  }

  /** Refuses another table of this name, and another file that would have the place of this one. */
  private static void requireFree(Configuration job, String name, String place) {
    if (job.get(SETTING + name) != null) {
      throw new IllegalArgumentException("the job has another table " + name + ": choose another name for " + place);
    }
    for (String setting : new String[] {SHIPPED_FILES, CACHE_FILES}) {
      for (String other : list(job, setting)) {
        // Hadoop's client uploads all files into one directory.
        if (link(other).equals(name + ENDING) || setting.equals(SHIPPED_FILES) && fileName(other).equals(fileName(place))) {
          throw new IllegalArgumentException("the job has the files " + other + " and " + place
              + " for one place: rename one");
        }
      }
    }
  }

  private static String fileName(String place) {
    int sign = place.lastIndexOf('#');
    return new Path(sign < 0 ? place : place.substring(0, sign)).getName();
  }

  private static String link(String place) {
    int sign = place.lastIndexOf('#');
    return sign < 0 ? fileName(place) : place.substring(sign + 1);
  }

  private static List<String> list(Configuration job, String setting) {
    return new ArrayList<>(job.getTrimmedStringCollection(setting));
  }

  /** Ships the jar of a class, unless the job has a jar of this name: its own, or one of {@code -libjars}. */
  private static void addJar(Configuration job, Class<?> of) {
    String jar = ClassUtil.findContainingJar(of);
    if (jar == null) {
      return; // Directories of classes: the job's own jar must have them.
    }
    String name = new Path(jar).getName();
    List<String> jars = list(job, SHIPPED_JARS);
    String own = job.get("mapreduce.job.jar");
    boolean isShipped = own != null && new Path(own).getName().equals(name);
    for (String other : jars) {
      isShipped |= new Path(other).getName().equals(name);
    }
    if (!isShipped) {
      jars.add(Paths.get(jar).toUri().toString());
      job.set(SHIPPED_JARS, String.join(",", jars));
    }
  }
}
