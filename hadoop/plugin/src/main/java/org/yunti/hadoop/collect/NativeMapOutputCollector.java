package org.yunti.hadoop.collect;

import java.io.IOException;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.Declined;
import org.yunti.hadoop.Fallback;
import org.yunti.hadoop.LocalDirectories;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.NativeLog;
import org.yunti.hadoop.ProgressTicker;
import org.yunti.hadoop.Verdict;
import org.yunti.hadoop.key.KeyCode;
import org.yunti.hadoop.key.KeyWriters.Use;
import org.yunti.hadoop.report.TaskTime.Stage;
import org.yunti.hadoop.report.TaskTime;

/**
 * Collector of map output in native code. Set this property and ship the jar; without the jar, tasks fail with
 * ClassNotFoundException.
 *
 * <pre>
 *   mapreduce.job.map.output.collector.class =
 *       org.yunti.hadoop.collect.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer
 * </pre>
 *
 * <p>If this collector declines, {@link #init} throws and Hadoop uses the next class of the list, its own collector.
 * The counter {@code declined: REASON} of group {@code Yunti} has the reason: the key type with its comparator, a
 * codec, an invalid setting, encrypted intermediate data, or an earlier attempt in which native code failed.
 *
 * <p>Records are collected in batches; native code sorts, spills, merges and writes them. Its memory of
 * {@code mapreduce.task.io.sort.mb} MiB is outside the Java heap.
 *
 * <p>Errors: a wrong key or value class, a bad partition and a combiner's exceptions are reported as by Hadoop. A
 * failure of native code is a {@link org.yunti.hadoop.NativeFailure}; the next attempt then runs Hadoop's own code
 * ({@link org.yunti.hadoop.Fallback}).
 */
public final class NativeMapOutputCollector<K, V> implements MapOutputCollector<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(NativeMapOutputCollector.class);

  /** Bytes that Hadoop's own collector keeps per record besides its data. */
  private static final int META_BYTES = 16;

  private JobConf job;
  private MapTask task;
  private TaskReporter reporter;
  private MapOutputFile files;
  private RecordWriter<K, V> writer;
  private int partitions;

  private long handle;
  /** Native combiner, or NONE; {@code combiner} is the Java one, or null. */
  private KnownSum sum;

  private CombineFeed<K, V> combiner;
  /** Comparator that native code calls, or null. */
  private KeyCode comparator;
  private RecordBatch batch;
  private int batchBytes;
  /** Partition of each record in the batch. */
  private int[] chosen;
  private int count;

  private Counters.Counter recordCounter;
  private Counters.Counter byteCounter;
  private long bytes;
  private TaskTime time;
  /**
   * Failure of a native call. It is thrown again, as in Hadoop's own collector, to a mapper that catches it and
   * continues.
   */
  private IOException failure;

  @Override
  public void init(Context context) throws IOException {
    TaskReporter reporter = context.getReporter();
    try {
      begin(context);
      Verdict.nativeCode(reporter, "the output of " + task.getTaskID());
    } catch (Throwable e) {
      // Any throwable other than an exception would end the task instead of trying the next collector.
      release();
      String reason = Verdict.declined(reporter, "the output of " + context.getMapTask().getTaskID(), e);
      throw e instanceof IOException ? (IOException) e : new IOException(reason, e);
    }
  }

  private void begin(Context context) throws IOException, ClassNotFoundException {
    job = context.getJobConf();
    task = context.getMapTask();
    reporter = context.getReporter();
    time = new TaskTime(reporter, job);
    files = task.getMapOutputFile();
    partitions = job.getNumReduceTasks();
    if (CryptoUtils.isEncryptedSpillEnabled(job)) {
      throw new Declined(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA + " is on");
    }
    checkSettings();
    Fallback.check(job, task.getTaskID());
    writer = new RecordWriter<>(job, RecordWriter.From.MAPPER, Use.MAP);
    comparator = writer.keyCode();
    if (comparator != null) {
      comparator.reportTo(reporter);
    }
    CodecSetting codec = CodecSetting.of(job);
    NativeLibrary.load();

    batch = new RecordBatch(64 << 10);
    sum = KnownSum.of(job, writer);
    if (sum == KnownSum.NONE) {
      combiner = combiner();
    } else {
      writer.sum(sum);
    }
    handle =
        NativeMapOutput.create(
            partitions,
            writer.keyForm().number,
            codec.number(),
            codec.level(),
            codec.bufferBytes(),
            (long) job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB) << 20,
            directories(),
            job.getInt(JobContext.MAP_COMBINE_MIN_SPILLS, 3),
            sum.number,
            combiner,
            comparator);
    batchBytes = NativeMapOutput.batchBytes(handle);
    chosen = new int[batchBytes / RecordBatch.HEADER_BYTES + 1];
    recordCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_RECORDS);
    byteCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_BYTES);
    time.lap(Stage.JVM_START);
  }

  /** Declines settings that Hadoop's own collector refuses, so that Hadoop reports them. */
  private void checkSettings() throws Declined {
    float share = job.getFloat(JobContext.MAP_SORT_SPILL_PERCENT, 0.8f);
    if (share > 1 || share <= 0) {
      throw new Declined("invalid " + JobContext.MAP_SORT_SPILL_PERCENT);
    }
    int megabytes = job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB);
    if ((megabytes & 0x7FF) != megabytes) {
      throw new Declined("invalid " + MRJobConfig.IO_SORT_MB);
    }
  }

  /** Returns the directories in which Hadoop would spill, one for each of its local directories. */
  private String[] directories() throws IOException {
    return LocalDirectories.of(job, i -> files.getSpillFileForWrite(i, 1));
  }

  private CombineFeed<K, V> combiner() throws IOException, ClassNotFoundException {
    Counters.Counter input = reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS);
    CombinerRunner<K, V> runner = CombinerRunner.create(job, task.getTaskID(), input, reporter, null);
    if (runner == null) {
      return null;
    }
    Counters.Counter output = reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS);
    return new CombineFeed<>(runner, new RecordWriter<>(job, RecordWriter.From.COMBINER, Use.MAP), output, reporter);
  }

  @Override
  public synchronized void collect(K key, V value, int partition) throws IOException {
    reporter.progress();
    if (failure != null) {
      throw failure;
    }
    if (partition < 0 || partition >= partitions) {
      throw new IOException("Illegal partition for " + key + " (" + partition + ")");
    }
    int before = batch.position();
    int hadoop;
    try {
      hadoop = writer.write(key, value, batch);
    } catch (IOException | RuntimeException | Error e) {
      // Removes the incomplete record.
      batch.position(before);
      throw e;
    }
    if (batch.position() > batchBytes) {
      overflow((before + 7) & ~7, before, partition);
    } else {
      chosen[count++] = partition;
    }
    bytes += sum == KnownSum.INT ? hadoop - Integer.BYTES : hadoop;
    recordCounter.increment(1);
  }

  /** Passes a full batch to native code, up to the record that begins at {@code start}. */
  private void overflow(int start, int end, int partition) throws IOException {
    if (count > 0) {
      int last = batch.position();
      batch.position(end);
      handOver();
      batch.position(last);
    }
    if (batch.position() - start <= batchBytes) {
      batch.keepFrom(start);
      chosen[count++] = partition;
      return;
    }
    int keyLength = batch.header(start);
    int valueLength = batch.header(start + 4);
    long begin = System.nanoTime();
    try {
      NativeMapOutput.putBig(handle, batch.bytes(), start + RecordBatch.HEADER_BYTES, keyLength, valueLength, partition);
    } catch (IOException | RuntimeException | LinkageError e) {
      failure = CombineFeed.ofSpill(combiner, comparator, e, this::failed);
      throw failure;
    }
    time.within(Stage.COLLECT, System.nanoTime() - begin);
    logSpills();
    batch.shrink(batchBytes);
  }

  private void handOver() throws IOException {
    if (count > 0) {
      int length = batch.padded(batch.position());
      long begin = System.nanoTime();
      try {
        NativeMapOutput.put(handle, batch.bytes(), length, chosen, count);
      } catch (IOException | RuntimeException | LinkageError e) {
        failure = CombineFeed.ofSpill(combiner, comparator, e, this::failed);
        throw failure;
      }
      time.within(Stage.COLLECT, System.nanoTime() - begin);
      logSpills();
      count = 0;
    }
    batch.position(0);
    byteCounter.increment(bytes);
    bytes = 0;
  }

  @Override
  public synchronized void flush() throws IOException, InterruptedException, ClassNotFoundException {
    if (handle == 0) {
      return;
    }
    try {
      if (failure != null) {
        throw failure;
      }
      handOver();
      time.lap(Stage.MAP);
      finish();
    } finally {
      release();
    }
    task.getSortPhase().complete();
  }

  private void finish() throws IOException {
    OutputIndex output = new OutputIndex(job, files, byteCounter.getValue());
    long[] done;
    ProgressTicker ticker = new ProgressTicker(() -> NativeMapOutput.ticks(handle), reporter);
    try {
      done = NativeMapOutput.finish(handle, output.file());
    } catch (IOException | RuntimeException | LinkageError e) {
      throw hadoopHadSpilled()
          ? CombineFeed.ofSpill(combiner, comparator, e, this::failed)
          : CombineFeed.of(combiner, comparator, e, this::failed);
    } finally {
      ticker.stop();
    }
    logSpills();
    output.write(done, NativeMapOutput.SEGMENTS, reporter);
    time.move(Stage.COLLECT, Stage.SPILL, done[NativeMapOutput.SPILL_NS]);
    time.within(Stage.SPILL, done[NativeMapOutput.LAST_SPILL_NS]);
    time.lap(done[NativeMapOutput.SPILLS] > 0 ? Stage.MERGE : Stage.SORT);
    if (sum != KnownSum.NONE) {
      reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS).increment(recordCounter.getValue());
      reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS).increment(done[NativeMapOutput.SUMMED_RECORDS]);
    }
    reporter.getCounter(TaskCounter.SPILLED_RECORDS).increment(done[NativeMapOutput.SPILLED_RECORDS]);
    LOG.info("Yunti wrote {} after {} spills", output.file(), done[NativeMapOutput.SPILLS]);
  }

  /** Logs the spills and merges that ended since the last call. */
  private void logSpills() throws IOException {
    NativeLog.print(NativeMapOutput.log(handle), LOG);
  }

  private IOException failed(Throwable why) {
    return Fallback.failed(job, reporter, task.getTaskID(), why);
  }

  /** Returns true if Hadoop's own collector would have run the combiner in its spill thread, long before the end. */
  private boolean hadoopHadSpilled() {
    long buffer = (long) job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB) << 20;
    float share = job.getFloat(JobContext.MAP_SORT_SPILL_PERCENT, 0.8f);
    return byteCounter.getValue() + META_BYTES * recordCounter.getValue() > buffer * share;
  }

  @Override
  public synchronized void close() {
    release();
    time.end();
  }

  private void release() {
    long handle = this.handle;
    this.handle = 0;
    batch = null;
    if (handle != 0) {
      NativeMapOutput.close(handle);
    }
  }
}
