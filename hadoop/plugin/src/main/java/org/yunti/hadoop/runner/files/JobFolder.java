package org.yunti.hadoop.runner.files;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Local files of a job, below each of the local directories: its cache files, its jar, and what its attempts write.
 *
 * <pre>
 *   LOCAL_DIR/yunti-jobs-USER/job_.._0001-PROCESS/cache/0/words.txt
 *                                                /jar/lib/..
 *                                                /attempt_.._m_000000_0/..
 * </pre>
 */
public final class JobFolder implements Closeable {
  /** First part of the name of the directory of a user's jobs; it also marks links to files of jobs that ended. */
  static final String MARK = "yunti-jobs-";

  /** Owner of the files, also if the program submits jobs for other users. */
  private static final String OWNER = System.getProperty("user.name");

  private static final Logger LOG = LoggerFactory.getLogger(JobFolder.class);

  private final List<File> roots = new ArrayList<>();
  private final CacheFiles cache;
  private final List<URL> classPath = new ArrayList<>();

  /** Brings the job's files here. {@code job} gets their local places. */
  public JobFolder(JobConf job, String id) throws IOException {
    for (String directory : job.getTrimmedStrings(MRConfig.LOCAL_DIR)) {
      // Absolute: a relative one would depend on the working directory of each file system.
      File all = new File(new Path(directory).toUri().getPath(), MARK + OWNER).getAbsoluteFile();
      ThisProcess.deleteLeftovers(all);
      roots.add(new File(all, id + "-" + ThisProcess.id()));
    }
    if (roots.isEmpty()) {
      throw new IOException(MRConfig.LOCAL_DIR + " names no directory");
    }
    for (File root : roots) {
      try {
        PrivateDirectory.make(root);
      } catch (IOException e) {
        // One disk of several may be broken: Hadoop's allocator takes the others.
        LOG.warn("{}", e.getMessage());
      }
    }
    cache = new CacheFiles(new File(roots.get(0), "cache"));
    boolean isMade = false;
    try {
      job.set(MRJobConfig.JOB_LOCAL_DIR, new File(roots.get(0), "work").getPath());
      cache.bring(job);
      addJar(job);
      for (File file : cache.classPath(job)) {
        classPath.add(url(file));
      }
      isMade = true;
    } finally {
      if (!isMade) {
        close();
      }
    }
  }

  private void addJar(JobConf job) throws IOException {
    String name = job.getJar();
    if (name == null) {
      return;
    }
    Path path = new Path(name);
    // Hadoop's client leaves out the scheme of its own directory, which is local; the default may be HDFS.
    FileSystem system = path.toUri().getScheme() == null ? FileSystem.getLocal(job) : path.getFileSystem(job);
    File jar = "file".equals(system.getUri().getScheme())
        ? new File(path.toUri().getPath()) : new File(new File(roots.get(0), "jar"), path.getName());
    if (!jar.exists()) {
      Files.createDirectories(jar.getParentFile().toPath());
      FileUtil.copy(system, path, jar, false, job);
    }
    job.setJar(jar.getPath());
    classPath.add(url(jar));
    Pattern unpacked = job.getPattern(MRJobConfig.JAR_UNPACK_PATTERN, JobConf.UNPACK_JAR_PATTERN_DEFAULT);
    if (JarContents.hasInner(jar, unpacked)) {
      classPath.addAll(JarContents.unpack(jar, new File(roots.get(0), "jar"), unpacked));
    }
  }

  private static URL url(File file) throws MalformedURLException {
    return file.toURI().toURL();
  }

  /** Returns the job's jars, in the order of a cluster. */
  public List<URL> classPath() {
    return classPath;
  }

  /** Returns a file of the job, in a directory that exists. */
  public File file(String name) throws IOException {
    File root = roots.get(0);
    PrivateDirectory.make(root);
    return new File(root, name);
  }

  /** Links the cache files in the working directory of a worker. */
  public void link(File directory) throws IOException {
    cache.link(directory);
  }

  /** Links the cache files in the program's working directory. Returns why that is not possible, or null. */
  public String linkHere() throws IOException {
    return cache.linkHere(new File(System.getProperty("user.dir")));
  }

  /** Returns the directories of an attempt on the local disks, separated by commas. */
  public String directories(TaskAttemptID attempt) {
    StringBuilder directories = new StringBuilder();
    for (File root : roots) {
      directories.append(directories.length() == 0 ? "" : ",").append(new File(root, attempt.toString()).getPath());
    }
    return directories.toString();
  }

  /** Deletes what an attempt wrote. */
  public void delete(TaskAttemptID attempt) {
    for (File root : roots) {
      FileUtil.fullyDelete(new File(root, attempt.toString()));
    }
  }

  @Override
  public void close() throws IOException {
    cache.close();
    for (File root : roots) {
      if (root.exists() && !FileUtil.fullyDelete(root)) {
        LOG.warn("cannot delete {}", root);
      }
      // The directory of all jobs goes with the last one; it stays while others use it.
      root.getParentFile().delete();
    }
  }
}
