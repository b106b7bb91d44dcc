package org.yunti.hadoop.runner.job;

import org.apache.hadoop.mapred.JobConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.attempt.AttemptControl;
import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.attempt.BadRecords;
import org.yunti.hadoop.runner.attempt.TaskOrder;
import org.yunti.hadoop.runner.load.JobClasses;
import org.yunti.hadoop.runner.record.AttemptOutput;
import org.yunti.hadoop.runner.record.JobRecord;
import org.yunti.hadoop.runner.task.TaskExecution;

/** Tasks in threads of this JVM. */
final class InThreads implements TaskPlace {
  private static final Logger LOG = LoggerFactory.getLogger(InThreads.class);

  private final JobConf conf;
  private final JobClasses classes;
  private final JobRecord record;

  InThreads(JobConf conf, JobClasses classes, JobRecord record) {
    this.conf = conf;
    this.classes = classes;
    this.record = record;
  }

  @Override
  public void run(AttemptRun attempt, TaskOrder order, AttemptUmbilical.Job answers) throws Exception {
    BadRecords bad = order.bad(number -> { });
    AttemptControl control = new AttemptControl(order.id(), bad);
    ClassLoader loader = classes.take();
    Thread thread = Thread.currentThread();
    thread.setContextClassLoader(loader);
    AttemptOutput output = AttemptOutput.begin(record.logs(order.id().toString()));
    try {
      TaskExecution execution =
          new TaskExecution(order, conf, loader, control, new AttemptUmbilical(answers));
      attempt.runs(new RunningAttempt() {
        @Override
        public AttemptState state() {
          return execution.state();
        }

        @Override
        public boolean takeProgress() {
          return control.takeProgress();
        }

        @Override
        public void cancel() {
          control.cancel();
          thread.interrupt();
        }

        @Override
        public void abandon() {
          stop(thread);
        }

        @Override
        public long record() {
          return bad == null ? BadRecords.NONE : bad.current();
        }

        @Override
        public String stack() {
          StringBuilder text = new StringBuilder();
          for (StackTraceElement frame : thread.getStackTrace()) {
            text.append("\n\tat ").append(frame);
          }
          return text.toString();
        }
      });
      try {
        execution.run();
      } catch (Throwable e) {
        // For the attempt's log; the console has it from Hadoop's client.
        LOG.info("{} {}", order.id(), control.isCancelled() ? "was stopped" : "failed", e);
        throw e;
      }
    } finally {
      output.close();
      classes.giveBack(loader);
    }
  }

  /** Stops a thread that hears no interrupt. Java 20 and later cannot; its code then goes on until the program ends. */
  private static void stop(Thread thread) {
    try {
      Thread.class.getMethod("stop").invoke(thread);
    } catch (ReflectiveOperationException e) {
      LOG.warn("{} does not stop; it goes on until this program ends", thread.getName());
    }
  }

  @Override
  public void close() {
    // The job's classes live as long as the job.
  }
}
