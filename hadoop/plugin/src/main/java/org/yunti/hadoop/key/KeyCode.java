package org.yunti.hadoop.key;

import org.apache.hadoop.util.Progressable;

/** User code on keys that native code calls: the job's comparator, or a normaliser. */
public abstract class KeyCode {
  /** Class loader of the task. Threads of native code have none, and user code may load classes. */
  private final ClassLoader loader = Thread.currentThread().getContextClassLoader();
  /** Gets the progress of long calls, or null. */
  private Progressable progress;
  /** First exception of the user code. */
  private volatile Throwable failure;

  /** Sets the receiver of progress. A sort may take longer than the time limit of a task without progress. */
  public void reportTo(Progressable newProgress) {
    progress = newProgress;
  }

  /** Returns the exception that the user code threw, or null. */
  public Throwable failure() {
    return failure;
  }

  /** Prepares the thread of a call for user code. */
  void enter() {
    Thread thread = Thread.currentThread();
    if (thread.getContextClassLoader() != loader) {
      thread.setContextClassLoader(loader);
    }
    if (progress != null) {
      progress.progress();
    }
  }

  /** Keeps an exception of user code: native code passes on only its text. */
  void failed(Throwable e) {
    if (failure == null) {
      failure = e;
    }
  }
}
