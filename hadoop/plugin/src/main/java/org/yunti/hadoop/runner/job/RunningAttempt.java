package org.yunti.hadoop.runner.job;

import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.BadRecords;

/** An attempt while it runs, in a thread of this JVM or in a worker. */
interface RunningAttempt {
  /** Returns the state of the moment. */
  AttemptState state();

  /** Returns true if the attempt made progress since the last call. */
  boolean takeProgress();

  /** Ends the attempt, at its next record at the latest, or with its JVM. */
  void cancel();

  /** Ends code that did not end, by force if there is one. */
  void abandon();

  /** Returns the record that its code has, {@link BadRecords#NONE} if it has none or the attempt does not watch it. */
  long record();

  /** Returns where its code is, for a message; empty if that is not known. */
  String stack();
}
