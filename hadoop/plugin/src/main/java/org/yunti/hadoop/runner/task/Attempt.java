package org.yunti.hadoop.runner.task;

import java.io.IOException;

/** One attempt of a task, beside what Hadoop's class of tasks has. */
public interface Attempt {
  /** Removes the output of an attempt that failed or was killed, by its committer. */
  void abort() throws IOException;
}
