package org.yunti.hadoop.runner.load;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Class loaders of one job: one a slot, used by one task after the other; or one a task, if the job's classes have
 * static fields that can change.
 */
public final class JobClasses implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(JobClasses.class);

  private final URL[] jars;
  private final ClassLoader hadoop;
  private final boolean ownFirst;
  private final URLClassLoader again;
  private final ClassLoader submitter;
  private final ClassScan scan;
  private final Deque<ClassLoader> free = new ArrayDeque<>();
  private final List<TaskClassLoader> all = new ArrayList<>();

  /**
   * @param conf the job's settings, which name its classes
   * @param jars the job's jars
   * @param ownFirst true if classes of the jars come before Hadoop's
   * @param submitter the loader of the program that submitted the job
   */
  public JobClasses(Configuration conf, List<URL> jars, boolean ownFirst, ClassLoader submitter) {
    hadoop = JobClasses.class.getClassLoader();
    this.ownFirst = ownFirst;
    this.submitter = submitter;
    Set<String> names = UserCode.names(conf);
    Set<URL> found = UserCode.find(names, jars.isEmpty() ? submitter : hadoop);
    again = new URLClassLoader(found.toArray(new URL[0]), null);
    found.addAll(jars);
    this.jars = found.toArray(new URL[0]);
    try (URLClassLoader own = new URLClassLoader(this.jars, null)) {
      scan = ClassScan.of(own, names);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns why the tasks need a JVM each, in words, or null. */
  public String ownJvm() {
    return scan.ownJvm();
  }

  /** Returns why the tasks need a working directory of their own, in words, or null. */
  public String ownDirectory() {
    return scan.ownDirectory();
  }

  /** Returns true if one JVM can run one task after the other: none leaves anything for the next one. */
  public boolean canShareJvm() {
    return scan.ownJvm() == null && scan.state() == null;
  }

  /** Returns what the tasks share, and why, for the user. */
  public String choice() {
    return scan.state() == null ? "a class loader for each thread" : "a class loader for each task: " + scan.state();
  }

  /** Returns a loader that no other task uses until it is given back. */
  public synchronized ClassLoader take() {
    ClassLoader loader = free.poll();
    if (loader == null) {
      TaskClassLoader made = new TaskClassLoader(jars, hadoop, ownFirst, again, submitter);
      all.add(made);
      loader = made;
    }
    return loader;
  }

  /** Gives a loader back, after its task ended. */
  public synchronized void giveBack(ClassLoader loader) {
    if (scan.state() == null) {
      free.push(loader);
    } else {
      all.remove(loader);
      close((TaskClassLoader) loader);
    }
  }

  private static void close(TaskClassLoader loader) {
    HadoopCaches.forget(loader);
    try {
      loader.close();
    } catch (IOException e) {
      LOG.warn("cannot close the jars of a job", e);
    }
  }

  @Override
  public synchronized void close() {
    for (TaskClassLoader loader : all) {
      close(loader);
    }
    try {
      again.close();
    } catch (IOException e) {
      LOG.warn("cannot close the jars of a job", e);
    }
    all.clear();
    free.clear();
  }
}
