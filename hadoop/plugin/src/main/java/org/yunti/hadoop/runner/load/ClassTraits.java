package org.yunti.hadoop.runner.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/** Needs of the classes that a job's settings name: a JVM a task, a working directory, a class loader a task. */
public final class ClassTraits {
  private final ClassScan scan;
  private final ClassPlan plan;

  /**
   * Finds and reads the classes.
   *
   * @param conf the job's settings, which name its classes
   * @param jars the job's jars
   * @param ownFirst true if classes of the jars come before Hadoop's
   * @param submitter the loader of the program that submitted the job
   */
  public ClassTraits(Configuration conf, List<URL> jars, boolean ownFirst, ClassLoader submitter) {
    Set<String> names = UserCode.names(conf);
    Set<URL> found = UserCode.find(conf, names, jars.isEmpty() ? submitter : ClassTraits.class.getClassLoader());
    URL[] again = found.toArray(new URL[0]);
    found.addAll(jars);
    try (URLClassLoader own = new URLClassLoader(found.toArray(new URL[0]), null)) {
      scan = ClassScan.of(own, names);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    plan = new ClassPlan(found, Arrays.asList(again), ownFirst, scan.state() != null);
  }

  public ClassPlan plan() {
    return plan;
  }

  /** Returns why the tasks need a JVM each, in words, or null. */
  public String ownJvm() {
    return scan.ownJvm();
  }

  /** Returns why the tasks need a working directory of their own, in words, or null. */
  public String ownDirectory() {
    return scan.ownDirectory();
  }

  /** Returns true if tasks leave nothing for the next one in static fields. */
  public boolean keepsNothing() {
    return scan.state() == null;
  }

  /** Returns what the tasks share, and why, for the user. */
  public String choice() {
    return keepsNothing() ? "a class loader for each thread" : "a class loader for each task: " + scan.state();
  }
}
