package org.yunti.hadoop.runner.load;

import java.io.Closeable;
import java.io.IOException;
import java.net.URL;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Class loaders of one job: as many as tasks run at the same time, each used by one task after the other. */
public final class JobClasses implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(JobClasses.class);

  private final URL[] jars;
  private final ClassLoader hadoop;
  private final boolean ownFirst;
  private final ClassLoader submitter;
  private final Deque<ClassLoader> free = new ArrayDeque<>();
  private final List<TaskClassLoader> all = new ArrayList<>();

  /**
   * @param jars the job's jars; without any, all tasks use the submitter's loader
   * @param ownFirst true if classes of the jars come before Hadoop's
   * @param submitter the loader of the program that submitted the job
   */
  public JobClasses(List<URL> jars, boolean ownFirst, ClassLoader submitter) {
    this.jars = jars.toArray(new URL[0]);
    this.ownFirst = ownFirst;
    this.submitter = submitter;
    hadoop = JobClasses.class.getClassLoader();
  }

  /** Returns a loader that no other task uses until it is given back. */
  public synchronized ClassLoader take() {
    if (jars.length == 0) {
      return submitter;
    }
    ClassLoader loader = free.poll();
    if (loader == null) {
      TaskClassLoader made = new TaskClassLoader(jars, hadoop, ownFirst, submitter);
      all.add(made);
      loader = made;
    }
    return loader;
  }

  /** Gives a loader back, after its task ended. */
  public synchronized void giveBack(ClassLoader loader) {
    if (jars.length > 0) {
      free.push(loader);
    }
  }

  @Override
  public synchronized void close() {
    for (TaskClassLoader loader : all) {
      HadoopCaches.forget(loader);
      try {
        loader.close();
      } catch (IOException e) {
        LOG.warn("cannot close the jars of a job", e);
      }
    }
    all.clear();
    free.clear();
  }
}
