package org.yunti.hadoop.runner.task;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapRunnable;
import org.apache.hadoop.mapred.MapRunner;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SkipBadRecords;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.util.ReflectionUtils;
import org.yunti.hadoop.runner.attempt.AttemptControl;

/**
 * Loop over the records of a map, as {@code Mapper.run} of the new API and {@code MapRunner} of the old one. But it
 * does not call {@code cleanup} and {@code close} of a mapper whose attempt was killed, because on a cluster its JVM is
 * gone then. And it leaves out bad records.
 *
 * <p>The methods are constants, so that the compiler calls them as directly as Hadoop's own loop.
 */
@SuppressWarnings({"rawtypes", "unchecked"}) // The types of a constant call are those of the bytecode.
final class MapLoop {
  private static final MethodHandle SETUP = UserMethods.of(Mapper.class, "setup", Mapper.Context.class);
  private static final MethodHandle MAP =
      UserMethods.of(Mapper.class, "map", Object.class, Object.class, Mapper.Context.class);
  private static final MethodHandle CLEANUP = UserMethods.of(Mapper.class, "cleanup", Mapper.Context.class);

  private final AttemptControl control;
  private final SkippedInput skipped;

  MapLoop(AttemptControl control, SkippedInput skipped) {
    this.control = control;
    this.skipped = skipped;
  }

  /** Runs a mapper of the new API; one that has a {@code run} of its own by that. */
  void run(Mapper mapper, Mapper.Context context) throws IOException, InterruptedException {
    if (!UserMethods.hasRunOf(Mapper.class, mapper, Mapper.Context.class)) {
      mapper.run(context);
      return;
    }
    try {
      SETUP.invokeExact(mapper, context);
      try {
        while (context.nextKeyValue()) {
          Object key = context.getCurrentKey();
          Object value = context.getCurrentValue();
          if (skipped.leavesOut()) {
            skipped.record(key, value);
          } else {
            MAP.invokeExact(mapper, key, value, context);
          }
        }
        skipped.end();
      } finally {
        if (!control.isCancelled()) {
          CLEANUP.invokeExact(mapper, context);
        }
      }
    } catch (Throwable e) {
      throw UserMethods.rethrown(e);
    }
  }

  /** Runs a mapper of the old API. A job may have a class of its own for that, which runs unchanged. */
  <K1, V1, K2, V2> void run(JobConf job, RecordReader<K1, V1> reader, OutputCollector<K2, V2> output, Reporter reporter)
      throws IOException {
    // Hadoop's own runner would make a mapper, of which there must be one.
    if (job.getMapRunnerClass() != MapRunner.class) {
      MapRunnable<K1, V1, K2, V2> runner = ReflectionUtils.newInstance(job.getMapRunnerClass(), job);
      runner.run(reader, output, reporter);
      return;
    }
    org.apache.hadoop.mapred.Mapper<K1, V1, K2, V2> mapper = ReflectionUtils.newInstance(job.getMapperClass(), job);
    // A mapper may count itself which records it is done with; which one is bad is unknown then.
    boolean isExact = SkipBadRecords.getAutoIncrMapperProcCount(job);
    boolean counts = isExact && SkipBadRecords.getMapperMaxSkipRecords(job) > 0;
    try {
      K1 key = reader.createKey();
      V1 value = reader.createValue();
      while (reader.next(key, value)) {
        if (isExact && skipped.leavesOut()) {
          skipped.record(key, value);
          continue;
        }
        mapper.map(key, value, output, reporter);
        if (counts) {
          reporter.incrCounter(SkipBadRecords.COUNTER_GROUP, SkipBadRecords.COUNTER_MAP_PROCESSED_RECORDS, 1);
        }
      }
      skipped.end();
    } finally {
      if (!control.isCancelled()) {
        mapper.close();
      }
    }
  }
}
