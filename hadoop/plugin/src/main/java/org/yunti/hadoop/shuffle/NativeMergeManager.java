package org.yunti.hadoop.shuffle;

import java.io.IOException;
import java.lang.ref.Cleaner;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.mapred.Counters;
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
import org.yunti.hadoop.ProgressTicker;
import org.yunti.hadoop.RecordFrames;
import org.yunti.hadoop.collect.CodecSetting;
import org.yunti.hadoop.collect.CombineFeed;
import org.yunti.hadoop.collect.RecordWriter;
import org.yunti.hadoop.key.KeyForm;
import org.yunti.hadoop.key.SortSetting;
import org.yunti.hadoop.report.TaskTime;
import org.yunti.hadoop.report.TaskTime.Stage;
import org.yunti.hadoop.task.NativeJob;

/**
 * Decides what of the map outputs is held in memory and when it is merged to disk, by Hadoop's own rules and settings; native code
 * holds and merges.
 */
public final class NativeMergeManager<K, V> implements MergeManager<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(NativeMergeManager.class);
  private static final Cleaner CLEANER = Cleaner.create();

  /** Two lengths of -1. */
  private static final int END_BYTES = 2;

  private static final Map<String, NativeMergeManager<?, ?>> OF_ATTEMPTS = new ConcurrentHashMap<>();

  private final Context<K, V> context;
  private final ExceptionReporter failures;
  private final ReduceMemory memory;
  private final String[] directories;
  /** The reducer is native too: no record comes through Java. */
  private final boolean isNative;
  private final CombineFeed<K, V> combiner;
  private final Handle handle;
  private final Cleaner.Cleanable cleanable;
  private final TaskTime time;

  /** Set once the merge failed under the reducer. One that catches the exception and goes on gets it again. */
  private IOException failure;

  /** Of segments that are fetched or there; all that follows is guarded by this. */
  private long used;

  private long committed;
  private long total;
  private boolean merging;

  /** The native side; freed once, when nobody is in a call. */
  private static final class Handle implements Runnable {
    private final long number;

    Handle(long number) {
      this.number = number;
    }

    @Override
    public void run() {
      NativeReduceInput.close(number);
    }
  }

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
    KeyForm form = isNative ? KeyForm.SAME : new RecordWriter<K, V>(job, RecordWriter.From.MAPPER).keyForm();
    if (form == KeyForm.CARRIED && SortSetting.sorts(job)) {
      throw new Declined("keys with a normaliser are merged by Hadoop");
    }
    CodecSetting codec = CodecSetting.of(job);
    NativeLibrary.load();
    memory = ReduceMemory.of(job);
    MapOutputFile files = context.getMapOutputFile();
    files.setConf(job);
    directories = LocalDirectories.of(job, i -> files.getSpillFileForWrite(i, 1));
    combiner = isNative ? null : combiner(job);
    handle =
        new Handle(
            NativeReduceInput.create(
                form.number,
                codec.number(),
                codec.level(),
                codec.bufferBytes(),
                isNative && NativeJob.reversed(job),
                memory.limitBytes(),
                directories,
                combiner));
    cleanable = CLEANER.register(this, handle);
    OF_ATTEMPTS.put(context.getReduceId().toString(), this);
    time.lap(Stage.JVM_START);
    LOG.info("Yunti merges in {} bytes of native memory", memory.limitBytes());
  }

  /** As Hadoop: of the combiners of a job, only one of the old API is run by its reducers too. */
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
    return new CombineFeed<>(runner, new RecordWriter<>(job, RecordWriter.From.COMBINER), output, reporter);
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
      // One may go past the limit, so that there always is one that ends and brings on a merge.
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

  /** Bytes of the records of a segment, without the mark at its end. */
  private static long recordBytes(long segmentBytes) {
    return Math.max(0, segmentBytes - END_BYTES);
  }

  /** A segment is given up; Hadoop fetches it again. */
  synchronized void aborted(long requestedSize, long reserved) {
    total -= recordBytes(requestedSize);
    used -= reserved;
  }

  /** The input of a reduce attempt in this JVM, for a reducer that is native. */
  public static NativeMergeManager<?, ?> of(TaskAttemptID attempt) throws IOException {
    NativeMergeManager<?, ?> found = OF_ATTEMPTS.get(attempt.toString());
    if (found == null) {
      throw new IOException("Yunti: a native reducer runs with NativeShuffle as shuffle plug-in alone");
    }
    return found;
  }

  /** What native code knows this input by. */
  public long number() {
    return handle.number;
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

  /** A segment takes {@code more} bytes than were reserved for it, or fewer. */
  synchronized void reserveMore(long more) {
    used += more;
  }

  /** A segment of so many bytes in memory (0: it is on disk) is there. */
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
        freed = NativeReduceInput.merge(number());
      } catch (IOException | RuntimeException | LinkageError e) {
        throw CombineFeed.of(combiner, e, this::failed);
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
    long number = number();
    ProgressTicker ticker = new ProgressTicker(() -> NativeReduceInput.ticks(number), context.getReporter());
    try {
      NativeReduceInput.open(number);
      context.getSpilledRecordsCounter().increment(NativeReduceInput.spilledRecords(number));
    } catch (IOException | RuntimeException | LinkageError e) {
      throw CombineFeed.of(combiner, e, this::failed);
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
      length = NativeReduceInput.next(number(), into);
    } catch (IOException | RuntimeException | LinkageError e) {
      failure = failed(e);
      throw failure;
    }
    time.within(Stage.MERGE, System.nanoTime() - start);
    return length;
  }

  /** What to throw after native code failed. A job of Yunti's own has no other code that could run. */
  IOException failed(Throwable why) {
    if (isNative) {
      return why instanceof IOException e ? e : new IOException(why);
    }
    return Fallback.failed(context.getJobConf(), context.getReporter(), context.getReduceId(), why);
  }

  /** The task is at its end. */
  void end() {
    if (!isNative) {
      time.lap(Stage.REDUCE);
    }
    time.end();
    release();
  }

  /** Nobody reads or fetches any more. */
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
    OF_ATTEMPTS.remove(context.getReduceId().toString());
    cleanable.clean();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
