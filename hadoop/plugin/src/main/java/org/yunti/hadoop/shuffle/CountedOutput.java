package org.yunti.hadoop.shuffle;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.counted.ThreadStatistics;

/**
 * Output format of a reduce that counts the bytes of its own thread. Hadoop's reduce sums up the statistics of all
 * threads, under a lock, twice a record, if its output format is one of files; for this one it does not.
 *
 * <p>The same is impossible for the input of maps: their reader depends on the class of the split, which mappers see.
 */
final class CountedOutput<K, V> extends OutputFormat<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(CountedOutput.class);

  /** File systems that count in the thread that writes. Clients of stores count in threads of their own. */
  private static final Set<String> SCHEMES = new HashSet<>(Arrays.asList("hdfs", "file"));

  private final OutputFormat<K, V> real;
  private final Counter bytes;

  private CountedOutput(OutputFormat<K, V> real, Counter bytes) {
    this.real = real;
    this.bytes = bytes;
  }

  /** Puts itself in front of the output format of a reduce of Hadoop's own class, before its writer is made. */
  static void install(Task reduce, JobConf job, Reporter reporter) {
    // The runner's reduces count for themselves.
    if (reduce == null || reduce.getClass() != ReduceTask.class) {
      return;
    }
    try {
      Path directory = org.apache.hadoop.mapred.FileOutputFormat.getOutputPath(job);
      if (directory == null || !SCHEMES.contains(directory.getFileSystem(job).getUri().getScheme())) {
        return;
      }
      Field field = Task.class.getDeclaredField("outputFormat");
      field.setAccessible(true);
      Object format = field.get(reduce);
      // The field is null in jobs of the old API.
      if (format instanceof FileOutputFormat) {
        Counter bytes = reporter.getCounter(FileOutputFormatCounter.BYTES_WRITTEN);
        field.set(reduce, new CountedOutput<>((FileOutputFormat<?, ?>) format, bytes));
      }
    } catch (IOException | ReflectiveOperationException | RuntimeException e) {
      LOG.info("Hadoop counts the bytes of each record: {}", e.toString());
    }
  }

  @Override
  public RecordWriter<K, V> getRecordWriter(TaskAttemptContext context) throws IOException, InterruptedException {
    ThreadStatistics statistics =
        ThreadStatistics.of(FileOutputFormat.getOutputPath(context), context.getConfiguration());
    long before = statistics.bytesWritten();
    RecordWriter<K, V> writer = real.getRecordWriter(context);
    bytes.increment(statistics.bytesWritten() - before);
    return new Writer<>(writer, statistics, bytes);
  }

  @Override
  public void checkOutputSpecs(JobContext context) throws IOException, InterruptedException {
    real.checkOutputSpecs(context);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext context) throws IOException, InterruptedException {
    return real.getOutputCommitter(context);
  }

  private static final class Writer<K, V> extends RecordWriter<K, V> {
    private final RecordWriter<K, V> real;
    private final ThreadStatistics statistics;
    private final Counter bytes;

    Writer(RecordWriter<K, V> real, ThreadStatistics statistics, Counter bytes) {
      this.real = real;
      this.statistics = statistics;
      this.bytes = bytes;
    }

    @Override
    public void write(K key, V value) throws IOException, InterruptedException {
      long before = statistics.bytesWritten();
      real.write(key, value);
      bytes.increment(statistics.bytesWritten() - before);
    }

    @Override
    public void close(TaskAttemptContext context) throws IOException, InterruptedException {
      long before = statistics.bytesWritten();
      real.close(context);
      bytes.increment(statistics.bytesWritten() - before);
    }
  }
}
