package org.yunti.hadoop.runner.job;

import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.attempt.TaskOrder;

/** Where the code of tasks runs. */
interface TaskPlace extends AutoCloseable {
  /** Runs an attempt to its end. Throws what made it fail. */
  void run(AttemptRun attempt, TaskOrder order, AttemptUmbilical.Job answers) throws Exception;

  /** Frees what the tasks used, after the last one. */
  @Override
  void close();
}
