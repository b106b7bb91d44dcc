package org.yunti.hadoop.shuffle;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin.Context;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.Declined;
import org.yunti.hadoop.Fallback;
import org.yunti.hadoop.LocalDirectories;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.NativeLog;
import org.yunti.hadoop.ProgressTicker;
import org.yunti.hadoop.RecordFrames;
import org.yunti.hadoop.collect.CodecSetting;
import org.yunti.hadoop.collect.CombineFeed;
import org.yunti.hadoop.collect.RecordWriter;
import org.yunti.hadoop.key.KeyCode;
import org.yunti.hadoop.key.KeyComparator;
import org.yunti.hadoop.key.KeyForm;
import org.yunti.hadoop.key.KeyNormals;
import org.yunti.hadoop.key.KeyWriters.Use;
import org.yunti.hadoop.report.TaskTime.Stage;
import org.yunti.hadoop.report.TaskTime;
import org.yunti.hadoop.task.NativeJob;

/**
 * Manager of map outputs in a reduce task. It decides by Hadoop's rules and settings which are kept in memory and when
 * they are merged to disk. Native code stores and merges them.
 */
public final class NativeMergeManager<K, V> implements MergeManager<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(NativeMergeManager.class);

  /** Bytes of an IFile's end mark: two lengths of -1. */
  private static final int END_BYTES = 2;

  private static final Map<String, NativeMergeManager<?, ?>> BY_ATTEMPT = new ConcurrentHashMap<>();

  private final Context<K, V> context;
  private final ExceptionReporter failures;
  private final ReduceMemory memory;
  private final String[] directories;
  /** True if the reducer is native too: no record passes through Java. */
  private final boolean isNative;
  private final CombineFeed<K, V> combiner;
  /** Code on keys that native code calls, or null. */
  private final KeyCode keyCode;
  /** Handle of the native half. It is freed once, when no thread is in a native call. */
  private final long number;

  private final AtomicBoolean released = new AtomicBoolean();
  private final TaskTime time;

  /** Failure of the merge under the reducer. It is thrown again to a reducer that catches it and continues. */
  private IOException failure;

  /** Bytes of segments in transfer or in memory. This object guards it and the fields below. */
  private long used;

  private long committed;
  private long total;
  private boolean merging;

  NativeMergeManager(Context<K, V> context, ExceptionReporter failures) throws IOException, ClassNotFoundException {
    this.context = context;
    this.failures = failures;
    JobConf job = context.getJobConf();
    time = new TaskTime(context.getReporter(), job);
    if (CryptoUtils.isEncryptedSpillEnabled(job)) {
      throw new Declined(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA + " is on");
    }
    isNative = NativeJob.of(job) != null;
    if (!isNative) {
      Fallback.check(job, context.getReduceId());
    }
    RecordWriter<K, V> writer = isNative ? null : new RecordWriter<>(job, RecordWriter.From.MAPPER, Use.REDUCE);
    KeyForm form = isNative ? KeyForm.SAME : writer.keyForm();
    keyCode = isNative ? null : writer.keyCode();
    if (keyCode != null) {
      keyCode.reportTo(context.getReporter());
    }
    CodecSetting codec = CodecSetting.of(job);
    NativeLibrary.load();
    memory = ReduceMemory.of(job);
    MapOutputFile files = context.getMapOutputFile();
    files.setConf(job);
    directories = LocalDirectories.of(job, i -> files.getSpillFileForWrite(i, 1));
    combiner = isNative ? null : combiner(job);
    number =
        NativeReduceInput.create(
            form.number,
            codec.number(),
            codec.level(),
            codec.bufferBytes(),
            isNative && NativeJob.reversed(job),
            isNative && NativeJob.takesMapsApart(job),
            memory.limitBytes(),
            directories,
            combiner,
            keyCode instanceof KeyComparator ? keyCode : null,
            keyCode instanceof KeyNormals ? keyCode : null);
    BY_ATTEMPT.put(context.getReduceId().toString(), this);
    time.lap(Stage.JVM_START);
    LOG.info("Yunti merges in {} bytes of native memory", memory.limitBytes());
  }

  /** Returns the combiner, or null. Like Hadoop's, the reduce side runs only combiners of the old API. */
  private CombineFeed<K, V> combiner(JobConf job) throws IOException, ClassNotFoundException {
    if (context.getCombinerClass() == null) {
      return null;
    }
    TaskReporter reporter = (TaskReporter) context.getReporter();
    TaskAttemptID task = context.getReduceId();
    CombinerRunner<K, V> runner =
        CombinerRunner.create(
            job,
            org.apache.hadoop.mapred.TaskAttemptID.downgrade(task),
            context.getReduceCombineInputCounter(),
            reporter,
            null);
    Counters.Counter output = reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS);
    return new CombineFeed<>(runner, new RecordWriter<>(job, RecordWriter.From.COMBINER, Use.REDUCE), output, reporter);
  }

  @Override
  public synchronized void waitForResource() throws InterruptedException {
    while (merging) {
      wait();
    }
  }

  @Override
  public MapOutput<K, V> reserve(TaskAttemptID mapId, long requestedSize, int fetcher) throws IOException {
    boolean onDisk = requestedSize > memory.singleBytes();
    synchronized (this) {
      // One reservation may exceed the limit, so that one always completes and triggers a merge.
      if (!onDisk && used > memory.limitBytes()) {
        return null;
      }
      total += recordBytes(requestedSize);
      if (!onDisk) {
        used += requestedSize;
      }
    }
    return new NativeSegment<>(this, mapId, requestedSize, onDisk);
  }

  /** Adds the part of a map's file that is this reduce's, without copying it. */
  void add(TaskAttemptID map, String file, IndexRecord part) throws IOException {
    synchronized (this) {
      total += recordBytes(part.rawLength);
    }
    NativeReduceInput.addMapFile(number, map.toString(), file, part.startOffset, part.partLength);
    context.getMergedMapOutputsCounter().increment(1);
  }

  /** Returns the bytes of a segment's records, without its end mark. */
  private static long recordBytes(long segmentBytes) {
    return Math.max(0, segmentBytes - END_BYTES);
  }

  /** Releases an abandoned segment; Hadoop fetches it again. */
  synchronized void aborted(long requestedSize, long reserved) {
    total -= recordBytes(requestedSize);
    used -= reserved;
  }

  /** Returns the input of a reduce attempt in this JVM, for a native reducer. */
  public static NativeMergeManager<?, ?> of(TaskAttemptID attempt) throws IOException {
    NativeMergeManager<?, ?> found = BY_ATTEMPT.get(attempt.toString());
    if (found == null) {
      throw new IOException("Yunti: a native reducer needs NativeShuffle as its shuffle plug-in");
    }
    return found;
  }

  /** Returns the handle of this input in native code. */
  public long number() {
    return number;
  }

  public Reporter reporter() {
    return context.getReporter();
  }

  public long memoryBytes() {
    return memory.limitBytes();
  }

  public String[] directories() {
    return directories.clone();
  }

  /** Adjusts a reservation by {@code more} bytes, which may be negative. */
  synchronized void reserveMore(long more) {
    used += more;
  }

  /** Counts a complete segment of {@code bytes} in memory, 0 if it is on disk. */
  synchronized void committed(long bytes) {
    context.getMergedMapOutputsCounter().increment(1);
    committed += bytes;
    if (committed >= memory.mergeBytes() && !merging) {
      merging = true;
      Thread thread = new Thread(this::merge, "yunti merge");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void merge() {
    long freed = 0;
    long start = System.nanoTime();
    try {
      try {
        freed = NativeReduceInput.merge(number);
        NativeLog.print(NativeReduceInput.log(number), LOG);
      } catch (IOException | RuntimeException | LinkageError e) {
        throw CombineFeed.of(combiner, keyCode, e, this::failed);
      }
      context.getReporter().progress();
    } catch (IOException | RuntimeException | Error e) {
      failures.reportException(e);
    } finally {
      time.within(Stage.MERGE, System.nanoTime() - start);
      synchronized (this) {
        used -= freed;
        committed -= freed;
        merging = false;
        notifyAll();
      }
    }
  }

  @Override
  public RawKeyValueIterator close() throws IOException, InterruptedException {
    waitForResource();
    time.lap(Stage.SHUFFLE);
    ProgressTicker ticker = new ProgressTicker(() -> NativeReduceInput.ticks(number), context.getReporter());
    try {
      NativeReduceInput.open(number);
      NativeLog.print(NativeReduceInput.log(number), LOG);
      context.getSpilledRecordsCounter().increment(NativeReduceInput.spilledRecords(number));
    } catch (IOException | RuntimeException | LinkageError e) {
      throw CombineFeed.of(combiner, keyCode, e, this::failed);
    } finally {
      ticker.stop();
    }
    time.lap(Stage.MERGE);
    if (isNative) {
      return new RecordFrames(into -> 0, 0);
    }
    return new RecordFrames(this::next, total);
  }

  private int next(byte[] into) throws IOException {
    if (failure != null) {
      throw failure;
    }
    long start = System.nanoTime();
    int length;
    try {
      length = NativeReduceInput.next(number, into);
    } catch (IOException | RuntimeException | LinkageError e) {
      failure = CombineFeed.of(null, keyCode, e, this::failed);
      throw failure;
    }
    time.within(Stage.MERGE, System.nanoTime() - start);
    return length;
  }

  /**
   * Returns the exception to throw after native code failed. A job that is native throughout has no other code to run.
   */
  IOException failed(Throwable why) {
    if (isNative) {
      return why instanceof IOException ? (IOException) why : new IOException(why);
    }
    return Fallback.failed(context.getJobConf(), context.getReporter(), context.getReduceId(), why);
  }

  /** Ends the task. */
  void end() {
    if (!isNative) {
      time.lap(Stage.REDUCE);
    }
    time.end();
    release();
  }

  /** Frees the native memory when no thread reads or fetches any more. */
  void release() {
    boolean interrupted = false;
    synchronized (this) {
      while (merging) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    BY_ATTEMPT.remove(context.getReduceId().toString());
    if (released.compareAndSet(false, true)) {
      NativeReduceInput.close(number);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
