package org.yunti.hadoop.runner.task;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Partitioner;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MapContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.map.WrappedMapper;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.mapreduce.task.MapContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.attempt.AttemptControl;
import org.yunti.hadoop.runner.attempt.AttemptReporter;
import org.yunti.hadoop.runner.counted.MapInput;
import org.yunti.hadoop.runner.counted.OldDirectOutput;
import org.yunti.hadoop.runner.counted.OldMapInput;
import org.yunti.hadoop.runner.counted.TaskOutput;

/** One attempt of a map task: Hadoop's task with loops that count in batches. */
public final class MapAttempt extends MapTask implements Attempt {
  private static final Logger LOG = LoggerFactory.getLogger(MapAttempt.class);
  /** Share of the progress before the output is sorted, as in Hadoop. */
  private static final float MAP_SHARE = 0.667f;

  private final TaskSplitIndex split;
  private final AttemptControl control;
  private final AttemptCosts costs = new AttemptCosts();
  private Progress mapPhase;
  private Progress sortPhase;
  private SkippedInput skipped;

  public MapAttempt(String jobFile, TaskAttemptID id, TaskSplitIndex split, AttemptControl control) {
    super(jobFile, id, id.getTaskID().getId(), split, 1);
    this.split = split;
    this.control = control;
  }

  @Override
  public void run(JobConf job, TaskUmbilicalProtocol umbilical)
      throws IOException, ClassNotFoundException, InterruptedException {
    this.umbilical = umbilical;
    boolean sorts = job.getNumReduceTasks() > 0;
    mapPhase = getProgress().addPhase("map", sorts ? MAP_SHARE : 1);
    if (sorts) {
      sortPhase = getProgress().addPhase("sort", 1 - MAP_SHARE);
    }
    AttemptReporter reporter = new AttemptReporter(this, umbilical, control);
    costs.begin();
    initialize(job, getJobID(), reporter, job.getUseNewMapper());
    skipped = new SkippedInput(control.bad(), job, getTaskID(), reporter);
    statusUpdate(umbilical);
    job.setBoolean(JobContext.SKIP_RECORDS, control.bad() != null);
    if (job.getUseNewMapper()) {
      runNew(job, reporter);
    } else {
      runOld(job, reporter);
    }
    done(umbilical, reporter);
    costs.end(reporter);
  }

  private <K1, V1, K2, V2> void runNew(JobConf job, AttemptReporter reporter)
      throws IOException, ClassNotFoundException, InterruptedException {
    TaskAttemptContext context = new TaskAttemptContextImpl(job, getTaskID(), reporter);
    @SuppressWarnings("unchecked")
    Mapper<K1, V1, K2, V2> mapper = (Mapper<K1, V1, K2, V2>) ReflectionUtils.newInstance(context.getMapperClass(), job);
    @SuppressWarnings("unchecked")
    InputFormat<K1, V1> format =
        (InputFormat<K1, V1>) ReflectionUtils.newInstance(context.getInputFormatClass(), job);
    InputSplit input = readSplit(reporter);
    LOG.info("Processing split: {}", input);
    MapInput<K1, V1> reader = new MapInput<>(input, format, reporter, context);
    RecordWriter<K2, V2> writer = null;
    Mapper<K1, V1, K2, V2>.Context mapperContext = null;
    boolean isRead = false;
    boolean isWritten = false;
    try {
      writer = writer(job, context, reporter);
      MapContext<K1, V1, K2, V2> mapContext =
          new MapContextImpl<>(job, getTaskID(), reader, writer, committer, reporter, input);
      mapperContext = new WrappedMapper<K1, V1, K2, V2>().getMapContext(mapContext);
      reader.initialize(input, mapperContext);
      new MapLoop(control, skipped).run(mapper, mapperContext);
      control.checkCancelled();
      endMapPhase();
      isRead = true;
      reader.close();
      isWritten = true;
      writer.close(mapperContext);
    } finally {
      if (!isRead) {
        Closing.quietly("reader", reader::close);
      }
      if (!isWritten && writer != null) {
        RecordWriter<K2, V2> open = writer;
        TaskAttemptContext last = mapperContext == null ? context : mapperContext;
        Closing.quietly("writer", () -> closeFailed(open, last));
      }
    }
  }

  private <K, V> void closeFailed(RecordWriter<K, V> writer, TaskAttemptContext context)
      throws IOException, InterruptedException {
    if (!control.isCancelled()) {
      writer.close(context);
    } else if (writer instanceof PartitionedOutput) {
      ((PartitionedOutput<K, V>) writer).drop(context);
    } else {
      ((TaskOutput<K, V>) writer).drop(context);
    }
  }

  @SuppressWarnings("unchecked")
  private <K, V> RecordWriter<K, V> writer(JobConf job, TaskAttemptContext context, AttemptReporter reporter)
      throws IOException, ClassNotFoundException, InterruptedException {
    if (job.getNumReduceTasks() == 0) {
      return new TaskOutput<>((org.apache.hadoop.mapreduce.OutputFormat<K, V>) outputFormat,
          TaskCounter.MAP_OUTPUT_RECORDS, reporter, context);
    }
    return new PartitionedOutput<>(MapOutputs.<K, V>create(this, job, reporter), context, job);
  }

  private <K1, V1, K2, V2> void runOld(JobConf job, AttemptReporter reporter) throws IOException, InterruptedException {
    org.apache.hadoop.mapred.InputSplit input = readSplit(reporter);
    if (input instanceof FileSplit) {
      FileSplit file = (FileSplit) input;
      job.set(JobContext.MAP_INPUT_FILE, file.getPath().toString());
      job.setLong(JobContext.MAP_INPUT_START, file.getStart());
      job.setLong(JobContext.MAP_INPUT_PATH, file.getLength());
    }
    LOG.info("Processing split: {}", input);
    reporter.setInputSplit(input);
    RecordReader<K1, V1> reader = new OldMapInput<>(input, reporter, job);
    MapOutputCollector<K2, V2> collector = null;
    boolean isRead = false;
    boolean isWritten = false;
    try {
      collector = job.getNumReduceTasks() == 0
          ? new OldDirectOutput<K2, V2>(reporter, job, getPartition()) : MapOutputs.<K2, V2>create(this, job, reporter);
      new MapLoop(control, skipped).run(job, reader, partitioned(collector, job), reporter);
      control.checkCancelled();
      endMapPhase();
      collector.flush();
      isRead = true;
      reader.close();
      isWritten = true;
      collector.close();
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    } finally {
      if (!isRead) {
        Closing.quietly("reader", reader::close);
      }
      if (!isWritten && collector != null) {
        MapOutputCollector<K2, V2> open = collector;
        Closing.quietly("collector", () -> closeFailed(open));
      }
    }
  }

  private <K, V> void closeFailed(MapOutputCollector<K, V> collector)
      throws IOException, InterruptedException, ClassNotFoundException {
    if (control.isCancelled() && collector instanceof OldDirectOutput) {
      ((OldDirectOutput<K, V>) collector).drop();
      return;
    }
    if (collector instanceof MapOutputBuffer) {
      collector.flush(); // It has a thread, which only this ends.
    }
    collector.close();
  }

  private static <K, V> OutputCollector<K, V> partitioned(MapOutputCollector<K, V> collector, JobConf job) {
    int partitions = job.getNumReduceTasks();
    @SuppressWarnings("unchecked")
    Partitioner<K, V> partitioner = partitions > 1
        ? (Partitioner<K, V>) ReflectionUtils.newInstance(job.getPartitionerClass(), job) : null;
    return (key, value) -> {
      try {
        // Without reduces the only partition is -1, as in Hadoop.
        collector.collect(key, value,
            partitioner == null ? partitions - 1 : partitioner.getPartition(key, value, partitions));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupt exception", e);
      }
    };
  }

  private void endMapPhase() throws IOException {
    mapPhase.complete();
    if (sortPhase != null) {
      setPhase(TaskStatus.Phase.SORT);
    }
    statusUpdate(umbilical);
  }

  @SuppressWarnings("unchecked")
  private <T> T readSplit(AttemptReporter reporter) throws IOException {
    Path file = new Path(split.getSplitLocation());
    try (FSDataInputStream in = file.getFileSystem(conf).open(file)) {
      in.seek(split.getStartOffset());
      String name = Text.readString(in);
      Class<T> found;
      try {
        found = (Class<T>) conf.getClassByName(name);
      } catch (ClassNotFoundException e) {
        throw new IOException("Split class " + name + " not found", e);
      }
      Deserializer<T> deserializer = new SerializationFactory(conf).getDeserializer(found);
      deserializer.open(in);
      T read = deserializer.deserialize(null);
      reporter.getCounter(TaskCounter.SPLIT_RAW_BYTES).increment(in.getPos() - split.getStartOffset());
      return read;
    }
  }

  @Override
  public Progress getSortPhase() {
    return sortPhase == null ? super.getSortPhase() : sortPhase;
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
