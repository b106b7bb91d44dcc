package org.yunti.hadoop.runner.task;

import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.ReflectionUtils;
import org.yunti.hadoop.runner.attempt.AttemptControl;
import org.yunti.hadoop.runner.attempt.AttemptReporter;
import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.counted.LaterCounter;
import org.yunti.hadoop.runner.counted.OldDirectOutput;
import org.yunti.hadoop.runner.counted.OldTaskOutput;
import org.yunti.hadoop.runner.counted.OldValues;
import org.yunti.hadoop.runner.counted.ReduceInput;
import org.yunti.hadoop.runner.counted.TaskOutput;
import org.yunti.hadoop.shuffle.NativeShuffle;

/** One attempt of a reduce task: Hadoop's task with loops that count in batches. */
public final class ReduceAttempt extends ReduceTask implements Attempt {
  private final AttemptControl control;
  private final Map<TaskAttemptID, MapOutputFile> mapOutputs;
  private final AttemptCosts costs = new AttemptCosts();
  private SkippedInput skipped;

  /** @param mapOutputs the outputs of all maps, which are on this machine */
  public ReduceAttempt(String jobFile, TaskAttemptID id, Map<TaskAttemptID, MapOutputFile> mapOutputs,
      AttemptControl control) {
    super(jobFile, id, id.getTaskID().getId(), mapOutputs.size(), 1);
    this.control = control;
    this.mapOutputs = mapOutputs;
    setLocalMapFiles(mapOutputs);
  }

  @Override
  public void run(JobConf job, TaskUmbilicalProtocol umbilical)
      throws IOException, InterruptedException, ClassNotFoundException {
    this.umbilical = umbilical;
    job.setBoolean(JobContext.SKIP_RECORDS, control.bad() != null);
    Progress copyPhase = getProgress().addPhase("copy");
    Progress sortPhase = getProgress().addPhase("sort");
    getProgress().addPhase("reduce");
    AttemptReporter reporter = new AttemptReporter(this, umbilical, control);
    costs.begin();
    initialize(job, getJobID(), reporter, job.getUseNewReducer());
    skipped = new SkippedInput(control.bad(), job, getTaskID(), reporter);
    statusUpdate(umbilical);
    ShuffleConsumerPlugin<?, ?> shuffle = shuffle(job, reporter, copyPhase, sortPhase);
    boolean isDone = false;
    try {
      RawKeyValueIterator records = shuffle.run();
      sortPhase.complete();
      setPhase(TaskStatus.Phase.REDUCE);
      statusUpdate(umbilical);
      if (job.getUseNewReducer()) {
        runNew(job, reporter, records);
      } else {
        runOld(job, reporter, records);
      }
      isDone = true;
    } finally {
      // Hadoop leaves this to the end of the JVM; here it is memory of the next task.
      if (!isDone) {
        Closing.quietly("input", shuffle::close);
      }
    }
    shuffle.close();
    done(umbilical, reporter);
    costs.end(reporter);
  }

  @SuppressWarnings({"rawtypes", "unchecked"})
  private ShuffleConsumerPlugin<?, ?> shuffle(JobConf job, AttemptReporter reporter, Progress copy, Progress sort)
      throws IOException {
    Class<? extends ShuffleConsumerPlugin> wanted =
        job.getClass(MRConfig.SHUFFLE_CONSUMER_PLUGIN, Shuffle.class, ShuffleConsumerPlugin.class);
    if (wanted == Shuffle.class) {
      wanted = NativeShuffle.class;
    }
    ShuffleConsumerPlugin shuffle = ReflectionUtils.newInstance(wanted, job);
    CompressionCodec codec = job.getCompressMapOutput()
        ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job) : null;
    Class combiner = job.getCombinerClass();
    CombineOutputCollector combined = combiner == null ? null
        : new CombineOutputCollector(reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS), reporter, job);
    shuffle.init(new ShuffleConsumerPlugin.Context(getTaskID(), job, FileSystem.getLocal(job), umbilical, lDirAlloc,
        reporter, codec, combiner, combined, spilledRecordsCounter,
        reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS), reporter.getCounter(TaskCounter.SHUFFLED_MAPS),
        reporter.getCounter(TaskCounter.REDUCE_SHUFFLE_BYTES), failedShuffleCounter, mergedMapOutputsCounter,
        AttemptUmbilical.of(umbilical).status(), copy, sort, this, mapOutputFile, mapOutputs));
    return shuffle;
  }

  @SuppressWarnings("unchecked")
  private <K1, V1, K2, V2> void runNew(JobConf job, AttemptReporter reporter, RawKeyValueIterator records)
      throws IOException, InterruptedException, ClassNotFoundException {
    TaskAttemptContext context = new TaskAttemptContextImpl(job, getTaskID(), reporter);
    Reducer<K1, V1, K2, V2> reducer =
        (Reducer<K1, V1, K2, V2>) ReflectionUtils.newInstance(context.getReducerClass(), job);
    TaskOutput<K2, V2> writer = new TaskOutput<>((org.apache.hadoop.mapreduce.OutputFormat<K2, V2>) outputFormat,
        TaskCounter.REDUCE_OUTPUT_RECORDS, reporter, context);
    job.setBoolean("mapred.skip.on", control.bad() != null);
    LaterCounter groups = new LaterCounter(reporter.getCounter(TaskCounter.REDUCE_INPUT_GROUPS));
    LaterCounter values = new LaterCounter(reporter.getCounter(TaskCounter.REDUCE_INPUT_RECORDS));
    ReduceInput input = new ReduceInput(records, reporter, groups, values);
    RawComparator<K1> grouping = job.getOutputValueGroupingComparator();
    Reducer<K1, V1, K2, V2>.Context reducerContext = createReduceContext(reducer, job, getTaskID(), input, groups,
        values, writer, committer, reporter, grouping, (Class<K1>) job.getMapOutputKeyClass(),
        (Class<V1>) job.getMapOutputValueClass());
    boolean isDone = false;
    try {
      new ReduceLoop(control, skipped).run(reducer, reducerContext);
      control.checkCancelled();
      isDone = true;
    } finally {
      input.flush();
      if (!isDone) {
        Closing.quietly("writer", () -> {
          if (control.isCancelled()) {
            writer.drop(reducerContext);
          } else {
            writer.close(reducerContext);
          }
        });
      }
    }
    writer.close(reducerContext);
  }

  @SuppressWarnings("unchecked")
  private <K1, V1, K2, V2> void runOld(JobConf job, AttemptReporter reporter, RawKeyValueIterator records)
      throws IOException {
    org.apache.hadoop.mapred.Reducer<K1, V1, K2, V2> reducer =
        (org.apache.hadoop.mapred.Reducer<K1, V1, K2, V2>) ReflectionUtils.newInstance(job.getReducerClass(), job);
    OldTaskOutput<K2, V2> writer = new OldTaskOutput<>(OldDirectOutput.fileName(getPartition()),
        TaskCounter.REDUCE_OUTPUT_RECORDS, reporter, job);
    OutputCollector<K2, V2> collector = writer::write;
    LaterCounter groups = new LaterCounter(reporter.getCounter(TaskCounter.REDUCE_INPUT_GROUPS));
    LaterCounter values = new LaterCounter(reporter.getCounter(TaskCounter.REDUCE_INPUT_RECORDS));
    ReduceInput input = new ReduceInput(records, reporter, groups, values);
    boolean isWritten = false;
    try {
      OldValues<K1, V1> group = new OldValues<>(input, job.getOutputValueGroupingComparator(),
          (Class<K1>) job.getMapOutputKeyClass(), (Class<V1>) job.getMapOutputValueClass(), job, values);
      new ReduceLoop(control, skipped).run(job, reducer, group, groups, collector, reporter);
      control.checkCancelled();
      isWritten = true;
      writer.close(reporter);
    } finally {
      input.flush();
      if (!isWritten) {
        Closing.quietly("writer", () -> {
          if (control.isCancelled()) {
            writer.drop(reporter);
          } else {
            writer.close(reporter);
          }
        });
      }
    }
  }

  @Override
  public void abort() throws IOException {
    if (committer != null) {
      committer.abortTask(taskContext);
    }
    if (skipped != null) {
      skipped.abort();
    }
  }
}
