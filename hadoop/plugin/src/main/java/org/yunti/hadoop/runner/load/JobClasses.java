package org.yunti.hadoop.runner.load;

import java.io.Closeable;
import java.io.IOException;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Class loaders of one job in one JVM: one a slot, used by one task after the other; or one a task, if the job's
 * classes have static fields that can change.
 */
public final class JobClasses implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(JobClasses.class);

  private final ClassPlan plan;
  private final ClassLoader hadoop = JobClasses.class.getClassLoader();
  private final URLClassLoader again;
  private final ClassLoader submitter;
  private final Deque<ClassLoader> free = new ArrayDeque<>();
  private final List<TaskClassLoader> all = new ArrayList<>();

  /** @param submitter the loader of the program that submitted the job; null in a worker, where tasks may exit */
  public JobClasses(ClassPlan plan, ClassLoader submitter) {
    this.plan = plan;
    this.submitter = submitter;
    again = new URLClassLoader(plan.again, null);
  }

  /** Returns a loader that no other task uses until it is given back. */
  public synchronized ClassLoader take() {
    ClassLoader loader = free.poll();
    if (loader == null) {
      TaskClassLoader made = new TaskClassLoader(plan, hadoop, again, submitter);
      all.add(made);
      loader = made;
    }
    return loader;
  }

  /** Gives a loader back, after its task ended. */
  public synchronized void giveBack(ClassLoader loader) {
    if (plan.keepsState) {
      all.remove(loader);
      close((TaskClassLoader) loader);
    } else {
      free.push(loader);
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
