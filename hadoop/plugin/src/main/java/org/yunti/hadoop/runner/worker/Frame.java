package org.yunti.hadoop.runner.worker;

/**
 * Messages between a job and a worker, each a byte and the fields below, written as {@link java.io.DataOutput} does.
 *
 * <pre>
 *   job -> worker   JOB     settings file, user, credentials, record directory, ClassPlan, boolean: the worker loads
 *                   TASK    TaskOrder
 *                   COMMIT  boolean: the attempt may commit
 *   worker -> job   STATE   AttemptState, boolean: it made progress       four times a second
 *                   RECORD  long: user code has this record; in attempts that skip bad ones
 *                   MAY     the attempt asks whether it may commit
 *                   DONE    AttemptState
 *                   FAILED  AttemptState, message
 * </pre>
 *
 * <p>A worker whose input ends, ends itself: so a job that was killed leaves none behind.
 */
final class Frame {
  static final int JOB = 'J';
  static final int TASK = 'T';
  static final int COMMIT = 'C';
  static final int STATE = 'S';
  static final int RECORD = 'R';
  static final int MAY = 'M';
  static final int DONE = 'D';
  static final int FAILED = 'F';

  private Frame() {}
}
