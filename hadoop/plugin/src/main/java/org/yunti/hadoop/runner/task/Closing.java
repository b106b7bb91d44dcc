package org.yunti.hadoop.runner.task;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closing after a failure: a second failure is logged, because the first one is what the user must see. */
final class Closing {
  private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

  private Closing() {}

  interface Step {
    void run() throws Exception;
  }

  static void quietly(String what, Step step) {
    try {
      step.run();
    } catch (Exception e) {
      LOG.info("cannot close the {} of a failed attempt", what, e);
    }
  }
}
