package org.yunti.hadoop.runner.task;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.util.Iterator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.SkipBadRecords;
import org.apache.hadoop.mapreduce.ReduceContext;
import org.apache.hadoop.mapreduce.Reducer;
import org.yunti.hadoop.runner.attempt.AttemptControl;
import org.yunti.hadoop.runner.attempt.AttemptReporter;
import org.yunti.hadoop.runner.counted.LaterCounter;
import org.yunti.hadoop.runner.counted.OldValues;

/**
 * Loop over the groups of a reduce, as {@code Reducer.run} of the new API and {@code ReduceTask} for the old one. It
 * differs from them as {@link MapLoop} does.
 */
@SuppressWarnings({"rawtypes", "unchecked"}) // The types of a constant call are those of the bytecode.
final class ReduceLoop {
  private static final MethodHandle SETUP = UserMethods.of(Reducer.class, "setup", Reducer.Context.class);
  private static final MethodHandle REDUCE =
      UserMethods.of(Reducer.class, "reduce", Object.class, Iterable.class, Reducer.Context.class);
  private static final MethodHandle CLEANUP = UserMethods.of(Reducer.class, "cleanup", Reducer.Context.class);

  private final AttemptControl control;
  private final SkippedInput skipped;

  ReduceLoop(AttemptControl control, SkippedInput skipped) {
    this.control = control;
    this.skipped = skipped;
  }

  /** Runs a reducer of the new API; one that has a {@code run} of its own by that. */
  void run(Reducer reducer, Reducer.Context context) throws IOException, InterruptedException {
    if (!UserMethods.hasRunOf(Reducer.class, reducer, Reducer.Context.class)) {
      reducer.run(context);
      return;
    }
    try {
      SETUP.invokeExact(reducer, context);
      try {
        while (context.nextKey()) {
          Iterable values = context.getValues();
          if (skipped.leavesOut()) {
            skipped.group();
            for (Object value : values) {
              skipped.value(context.getCurrentKey(), value);
            }
            continue;
          }
          REDUCE.invokeExact(reducer, context.getCurrentKey(), values, context);
          Iterator iterator = context.getValues().iterator();
          if (iterator instanceof ReduceContext.ValueIterator) {
            ((ReduceContext.ValueIterator) iterator).resetBackupStore();
          }
        }
        skipped.end();
      } finally {
        if (!control.isCancelled()) {
          CLEANUP.invokeExact(reducer, context);
        }
      }
    } catch (Throwable e) {
      throw UserMethods.rethrown(e);
    }
  }

  /** Runs a reducer of the old API, and closes it. */
  <K1, V1, K2, V2> void run(JobConf job, org.apache.hadoop.mapred.Reducer<K1, V1, K2, V2> reducer,
      OldValues<K1, V1> group, LaterCounter groups, OutputCollector<K2, V2> output, AttemptReporter reporter)
      throws IOException {
    // A reducer may count itself which groups it is done with; which one is bad is unknown then.
    boolean isExact = SkipBadRecords.getAutoIncrReducerProcCount(job);
    boolean counts = isExact && SkipBadRecords.getReducerMaxSkipGroups(job) > 0;
    boolean isReduced = false;
    try {
      while (group.more()) {
        groups.increment(1);
        if (isExact && skipped.leavesOut()) {
          skipped.group();
          while (group.hasNext()) {
            V1 value = group.next();
            skipped.value(group.getKey(), value);
          }
        } else {
          reducer.reduce(group.getKey(), group, output, reporter);
          if (counts) {
            reporter.incrCounter(SkipBadRecords.COUNTER_GROUP, SkipBadRecords.COUNTER_REDUCE_PROCESSED_GROUPS, 1);
          }
        }
        group.nextKey();
      }
      skipped.end();
      isReduced = true;
    } finally {
      if (!isReduced && !control.isCancelled()) {
        Closing.quietly("reducer", reducer::close);
      }
    }
    if (!control.isCancelled()) {
      reducer.close();
    }
  }
}
