package org.yunti.hadoop.runner.files;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.StringUtils;

/**
 * Files and archives of a job's distributed cache, in a directory of the job. As on a cluster, tasks find them by links
 * in their working directory, which a worker has for itself.
 */
@SuppressWarnings("deprecation") // The methods that tasks of today still call read these properties.
final class CacheFiles implements Closeable {
  /** Name that stands for all files of a directory. */
  private static final String ALL = "*";
  /** Links in the working directory of this program, over all jobs of this JVM. */
  private static final Set<File> HELD = new HashSet<>();

  private final File directory;
  private final List<File> made = new ArrayList<>();
  /** Files by the names of their links. */
  private final Map<String, File> links = new LinkedHashMap<>();
  private final Map<String, File> local = new LinkedHashMap<>();

  /** @param directory a directory of the job, which this class creates if there are files */
  CacheFiles(File directory) {
    this.directory = directory;
  }

  /** Brings the files here, and writes their places into the job's settings. */
  void bring(JobConf job) throws IOException {
    List<String> files = new ArrayList<>();
    for (URI uri : uris(job, MRJobConfig.CACHE_FILES)) {
      files.add(bring(uri, false, job).getPath());
    }
    List<String> archives = new ArrayList<>();
    for (URI uri : uris(job, MRJobConfig.CACHE_ARCHIVES)) {
      archives.add(bring(uri, true, job).getPath());
    }
    if (!files.isEmpty()) {
      job.set(MRJobConfig.CACHE_LOCALFILES, StringUtils.arrayToString(files.toArray(new String[0])));
    }
    if (!archives.isEmpty()) {
      job.set(MRJobConfig.CACHE_LOCALARCHIVES, StringUtils.arrayToString(archives.toArray(new String[0])));
    }
  }

  /**
   * Returns the local files for the class path: the ones that the settings name, by their path or by their name in the
   * working directory, and the jars of {@code -libjars}.
   */
  List<File> classPath(JobConf job) {
    Set<File> found = new LinkedHashSet<>();
    for (String key : new String[] {MRJobConfig.CLASSPATH_FILES, MRJobConfig.CLASSPATH_ARCHIVES}) {
      for (String path : job.getStrings(key, new String[0])) {
        File file = local.get(new Path(path).toUri().getPath());
        if (file == null) {
          file = links.get(new Path(path).getName());
        }
        if (file == null) {
          // Hadoop's client leaves local jars where they are if its own directory is local.
          file = new File(new Path(path).toUri().getPath());
        }
        if (file.exists()) {
          found.add(file);
        }
      }
    }
    for (Map.Entry<String, File> directory : local.entrySet()) {
      File[] jars = directory.getKey().endsWith("/" + ALL) ? directory.getValue().listFiles() : null;
      if (jars != null) {
        Arrays.sort(jars);
        found.addAll(Arrays.asList(jars));
      }
    }
    return new ArrayList<>(found);
  }

  private static List<URI> uris(JobConf job, String key) {
    List<URI> found = new ArrayList<>();
    for (String text : job.getStrings(key, new String[0])) {
      found.add(StringUtils.stringToURI(new String[] {text})[0]);
    }
    return found;
  }

  private File bring(URI uri, boolean isArchive, JobConf job) throws IOException {
    Path path = new Path(uri.getScheme(), uri.getAuthority(), uri.getPath());
    if (path.getName().equals(ALL)) {
      return bringAll(path.getParent(), job);
    }
    FileSystem system = path.getFileSystem(job);
    Path there = system.resolvePath(path);
    String name = uri.getFragment() == null ? path.getName() : uri.getFragment();
    File own = new File(directory, Integer.toString(local.size()));
    if (!own.mkdirs()) {
      throw new IOException("cannot create " + own);
    }
    // As on a cluster, the local file has the name of its link.
    File file = new File(own, name);
    if (isArchive) {
      File packed = new File(new File(own, "packed"), there.getName());
      Files.createDirectories(packed.getParentFile().toPath());
      bring(there, packed, job);
      unpack(packed, file);
    } else {
      bring(there, file, job);
    }
    local.put(path.toUri().getPath(), file);
    links.put(name, file);
    return file;
  }

  /** Brings all files of a directory, as Hadoop's client names the jars of {@code -libjars}. */
  private File bringAll(Path path, JobConf job) throws IOException {
    FileSystem system = path.getFileSystem(job);
    File all = new File(new File(directory, Integer.toString(local.size())), path.getName());
    if (!all.mkdirs()) {
      throw new IOException("cannot create " + all);
    }
    for (FileStatus file : system.listStatus(path)) {
      File one = new File(all, file.getPath().getName());
      bring(file.getPath(), one, job);
      local.put(file.getPath().toUri().getPath(), one);
    }
    local.put(new Path(path, ALL).toUri().getPath(), all);
    links.put(path.getName(), all);
    return all;
  }

  /** Copies a file, or links a local one: a file must not change during the job, on a cluster neither. */
  private static void bring(Path from, File to, JobConf job) throws IOException {
    if ("file".equals(from.toUri().getScheme())) {
      Files.createSymbolicLink(to.toPath(), new File(from.toUri().getPath()).toPath());
    } else {
      FileUtil.copy(from.getFileSystem(job), from, to, false, job);
    }
  }

  private static void unpack(File archive, File to) throws IOException {
    String name = archive.getName().toLowerCase(Locale.ROOT);
    if (name.endsWith(".jar") || name.endsWith(".zip")) {
      FileUtil.unZip(archive, to);
    } else if (name.endsWith(".tar") || name.endsWith(".tar.gz") || name.endsWith(".tgz")) {
      FileUtil.unTar(archive, to);
    } else {
      // As Hadoop does: it is what the job says it is.
      Files.createSymbolicLink(to.toPath(), archive.toPath());
    }
  }

  /** Makes the links in a directory that no other job uses. */
  void link(File to) throws IOException {
    for (Map.Entry<String, File> link : links.entrySet()) {
      Files.createSymbolicLink(new File(to, link.getKey()).toPath(), link.getValue().toPath());
    }
  }

  /**
   * Makes the links in the working directory of this program.
   *
   * @return null, or why a name cannot be linked there; no link is left then
   */
  String linkHere(File to) throws IOException {
    String reason = null;
    for (Map.Entry<String, File> link : links.entrySet()) {
      File place = new File(to, link.getKey());
      removeStale(place);
      if (isCopy(place, link.getValue())) {
        continue; // The program ships a file of its own directory.
      }
      synchronized (HELD) {
        if (!HELD.add(place)) {
          reason = "another job has its file " + link.getKey() + " in the working directory";
          break;
        }
      }
      try {
        Files.createSymbolicLink(place.toPath(), link.getValue().toPath());
        made.add(place);
      } catch (IOException e) {
        synchronized (HELD) {
          HELD.remove(place);
        }
        reason = e instanceof FileAlreadyExistsException ? "the working directory has a file " + link.getKey()
            : "the working directory takes no link " + link.getKey();
        break;
      }
    }
    if (reason != null) {
      unlink();
    }
    return reason;
  }

  /** Removes a link that a program left which was killed: its target is gone. */
  private static void removeStale(File link) throws IOException {
    if (Files.isSymbolicLink(link.toPath()) && !Files.exists(link.toPath())
        && Files.readSymbolicLink(link.toPath()).toString().contains(JobFolder.MARK)) {
      Files.deleteIfExists(link.toPath());
    }
  }

  private static boolean isCopy(File one, File other) throws IOException {
    return one.isFile() && other.isFile() && !Files.isSymbolicLink(one.toPath())
        && one.length() == other.length() && contentEquals(one, other);
  }

  private static boolean contentEquals(File one, File other) throws IOException {
    try (InputStream a = new BufferedInputStream(new FileInputStream(one));
        InputStream b = new BufferedInputStream(new FileInputStream(other))) {
      int next = a.read();
      while (next >= 0 && next == b.read()) {
        next = a.read();
      }
      return next < 0;
    }
  }

  private void unlink() throws IOException {
    for (File link : made) {
      if (Files.exists(link.toPath(), LinkOption.NOFOLLOW_LINKS)) {
        Files.delete(link.toPath());
      }
      synchronized (HELD) {
        HELD.remove(link);
      }
    }
    made.clear();
  }

  @Override
  public void close() throws IOException {
    unlink();
    local.clear();
    links.clear();
  }
}
