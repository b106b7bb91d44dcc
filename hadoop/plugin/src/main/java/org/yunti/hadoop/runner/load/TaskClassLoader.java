package org.yunti.hadoop.runner.load;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Enumeration;

/**
 * Class loader of a job's jars for the tasks of one slot, so that static fields of two tasks that run at the same time
 * are two fields, as in two JVMs.
 *
 * <p>Hadoop's classes come first, as on a cluster, unless the job wants its own first. Classes that are nowhere else
 * come from the loader of the program that submitted the job.
 */
final class TaskClassLoader extends URLClassLoader {
  static {
    registerAsParallelCapable();
  }

  private final boolean ownFirst;
  private final ClassLoader submitter;

  /** @param submitter loader that is searched last, or null */
  TaskClassLoader(URL[] jars, ClassLoader hadoop, boolean ownFirst, ClassLoader submitter) {
    super(jars, hadoop);
    this.ownFirst = ownFirst;
    this.submitter = submitter;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> found = findLoadedClass(name);
      if (found == null && ownFirst && !isOfSystem(name)) {
        try {
          found = findClass(name);
        } catch (ClassNotFoundException e) {
          // The parent may have it.
        }
      }
      if (found == null) {
        try {
          return super.loadClass(name, resolve);
        } catch (ClassNotFoundException e) {
          if (submitter == null) {
            throw e;
          }
          found = submitter.loadClass(name);
        }
      }
      if (resolve) {
        resolveClass(found);
      }
      return found;
    }
  }

  /** Returns true for classes that a task shares with the framework. */
  private static boolean isOfSystem(String name) {
    return name.startsWith("java.") || name.startsWith("javax.") || name.startsWith("org.apache.hadoop.")
        || name.startsWith("org.slf4j.") || name.startsWith("org.apache.log4j.")
        || name.startsWith("org.apache.commons.logging.") || name.startsWith("org.yunti.hadoop.");
  }

  @Override
  public URL getResource(String name) {
    URL found = ownFirst ? findResource(name) : null;
    if (found == null) {
      found = super.getResource(name);
    }
    return found == null && submitter != null ? submitter.getResource(name) : found;
  }

  @Override
  public Enumeration<URL> getResources(String name) throws IOException {
    Enumeration<URL> found = super.getResources(name);
    return found.hasMoreElements() || submitter == null ? found : submitter.getResources(name);
  }
}
