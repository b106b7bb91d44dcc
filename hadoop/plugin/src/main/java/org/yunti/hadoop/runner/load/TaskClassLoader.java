package org.yunti.hadoop.runner.load;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.security.cert.Certificate;
import java.util.Enumeration;

/**
 * Class loader of a job's jars for the tasks of one slot, so that a static field of two tasks that run at the same time
 * is two fields, as in two JVMs.
 *
 * <p>Hadoop's classes come first, as on a cluster, unless the job wants its own first. Classes of the job that the
 * program's own loader has too are loaded here again. Classes that are nowhere else come from the program's loader.
 *
 * <p>So are a few classes of Hadoop that keep state in static fields, such as the descriptors of its aggregates.
 *
 * <p>Calls of {@code System.exit} lead to {@link TaskExit} in the program's JVM.
 */
final class TaskClassLoader extends URLClassLoader {
  static {
    registerAsParallelCapable();
  }

  private static final String SYSTEM = "java/lang/System";
  private static final String EXIT = "org/yunti/hadoop/runner/load/TaskExit";

  private final boolean ownFirst;
  private final URLClassLoader again;
  private final ClassLoader submitter;

  /**
   * @param again finds the classes that are loaded here although the parent has them
   * @param submitter loader that is searched last; null in a JVM that is a task's own to end
   */
  TaskClassLoader(ClassPlan plan, ClassLoader hadoop, URLClassLoader again, ClassLoader submitter) {
    super(plan.jars, hadoop);
    ownFirst = plan.ownFirst;
    this.again = again;
    this.submitter = submitter;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> found = findLoadedClass(name);
      if (found == null && comesFromHere(name)) {
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

  private boolean comesFromHere(String name) {
    if (isOfSystem(name)) {
      return false;
    }
    return isStateful(name) || ownFirst && !isOfFramework(name) || again.findResource(name.replace('.', '/') + ".class") != null;
  }

  /** Returns true for classes that every loader shares. */
  private static boolean isOfSystem(String name) {
    return name.startsWith("java.") || name.startsWith("org.slf4j.") || name.startsWith("org.apache.log4j.")
        || name.startsWith("org.apache.commons.logging.");
  }

  /** Returns true for classes of Hadoop that tasks run and that keep state in static fields. */
  private static boolean isStateful(String name) {
    return name.startsWith("org.apache.hadoop.mapreduce.lib.aggregate.")
        || name.startsWith("org.apache.hadoop.mapred.lib.aggregate.");
  }

  private static boolean isOfFramework(String name) {
    return name.startsWith("org.apache.hadoop.") || name.startsWith("org.yunti.hadoop.") || name.startsWith("javax.");
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    String path = name.replace('.', '/') + ".class";
    URL url = isStateful(name) ? getParent().getResource(path) : findResource(path);
    if (url == null) {
      throw new ClassNotFoundException(name);
    }
    try {
      byte[] bytes = ClassScan.bytes(url);
      ClassFile file = new ClassFile(bytes);
      boolean exits = submitter != null && file.calls(SYSTEM, "exit");
      if (!isStateful(name) && !exits) {
        return super.findClass(name);
      }
      byte[] changed = exits ? file.redirect(SYSTEM, "exit", EXIT) : bytes;
      CodeSource source = new CodeSource(place(url, path), (Certificate[]) null);
      int dot = name.lastIndexOf('.');
      if (dot > 0 && getPackage(name.substring(0, dot)) == null) {
        definePackage(name.substring(0, dot), null, null, null, null, null, null, null);
      }
      return defineClass(name, changed, 0, changed.length, source);
    } catch (IOException | IllegalArgumentException e) {
      // A class that is too new for this reader, or a package that another thread defined.
      return super.findClass(name);
    }
  }

  /** Returns the jar or directory of a class. */
  private static URL place(URL url, String path) throws IOException {
    String text = url.toString();
    return text.startsWith("jar:") ? new URL(text.substring("jar:".length(), text.indexOf("!/")))
        : new URL(text.substring(0, text.length() - path.length()));
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
