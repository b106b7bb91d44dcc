package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;
import org.yunti.hadoop.NativeLibrary;

/** What the tasks of a job that is native throughout find in its configuration. */
public final class NativeJob {
  /** The text of the job file (docs/formats/job-toml.md). */
  public static final String SETTING = "yunti.hadoop.job";

  /** Where the partitions of a total order begin; set by {@link #prepare}. */
  static final String BOUNDS = "yunti.hadoop.bounds";

  /** How many of the job's input paths are each source's, in order, separated by commas; unset: there is one source. */
  public static final String SOURCES = "yunti.hadoop.sources";

  /** Whether files that are not compressed may be cut, of each source, separated by commas; set by {@link #prepare}. */
  static final String SPLITTABLE = "yunti.hadoop.splittable";

  /** As where Java's mappers are collected: a job that Hadoop runs with 1 MB must not fail. */
  private static final long MEMORY_BYTES_MIN = 4 << 20;

  /** For the tables of bzip2 and the windows of the others, which Hadoop has outside of its sort buffer too. */
  private static final long DECODER_MEMORY_BYTES = 16 << 20;

  private NativeJob() {}

  /** The job, or null if this one is not native. */
  public static String of(Configuration conf) {
    return conf.getRaw(SETTING);
  }

  private interface Named {
    Class<?> load() throws ClassNotFoundException;
  }

  private static Class<?> loaded(Named format) throws IOException {
    try {
      return format.load();
    } catch (ClassNotFoundException e) {
      throw new IOException("Yunti: there is no class " + e.getMessage() + " on the class path", e);
    }
  }

  /** Whether files are read natively, or a reader of Java's gives records. */
  static boolean readsNatively(JobContext job) throws IOException {
    return loaded(job::getInputFormatClass) == NativeInputFormat.class;
  }

  static boolean writesNatively(JobContext job) throws IOException {
    return loaded(job::getOutputFormatClass) == NativeOutputFormat.class;
  }

  /** The name under which a task's output is a file. */
  static String output(TaskInputOutputContext<?, ?, Object, Object> context, TaskFiles files) throws IOException {
    if (writesNatively(context)) {
      CompressionCodec codec = codec(context);
      String extension = codec == null ? NativeTask.extension(of(context.getConfiguration())) : codec.getDefaultExtension();
      Path file = new NativeOutputFormat().file(context, extension);
      return codec == null ? file.toString() : files.output("compressed", new CompressedOutput(context, codec, file));
    }
    NativeValue[] types = outputTypes(context.getConfiguration(), null);
    return files.output("output", new RecordSink(context, types[0], types[1]));
  }

  /** Hadoop's codec for what a task writes, where only the cluster's configuration wants one; else null: the job's own is the engine's. */
  static CompressionCodec codec(TaskAttemptContext context) throws IOException {
    return NativeTask.extension(of(context.getConfiguration())).isEmpty() ? NativeOutputFormat.codec(context) : null;
  }

  /** Types of keys and values of the output; {@code libraries}: where they lie, or null for as the job says. */
  private static NativeValue[] outputTypes(Configuration conf, String[] libraries) throws IOException {
    String[] names = NativeTask.outputTypes(of(conf), libraries).toUpperCase(java.util.Locale.ROOT).split(" ");
    return new NativeValue[] {NativeValue.valueOf(names[0]), NativeValue.valueOf(names[1])};
  }

  /**
   * Looks into the input: how it may be cut, and, for a total order over several reduces, a sample; and gives Java's writer the classes
   * that fit, where the job names none. To be called before the job is submitted; {@code libraries} are where they lie here.
   */
  public static void prepare(Job job, List<String> libraries) throws IOException, InterruptedException {
    NativeLibrary.load();
    String[] own = libraries.toArray(new String[0]);
    Configuration conf = job.getConfiguration();
    conf.set(SETTING, NativeTask.framed(of(conf), !readsNatively(job), !writesNatively(job)));
    if (!writesNatively(job)) {
      NativeValue[] types = outputTypes(conf, own);
      if (conf.get(MRJobConfig.OUTPUT_KEY_CLASS) == null) {
        job.setOutputKeyClass(types[0].usual);
      }
      if (conf.get(MRJobConfig.OUTPUT_VALUE_CLASS) == null) {
        job.setOutputValueClass(types[1].usual);
      }
    }
    try (TaskFiles files = new TaskFiles(conf, null)) {
      Set<Input> inputs = readsNatively(job) ? inputs(job, own) : samples(job, files);
      String[] paths = inputs.stream().map(Input::path).toArray(String[]::new);
      int[] sources = inputs.stream().mapToInt(Input::source).toArray();
      String bounds = NativeTask.bounds(of(conf), files, own, paths, sources);
      if (bounds != null) {
        conf.set(BOUNDS, bounds);
      }
    }
  }

  /** A file, or a stream that has the name of one. */
  private record Input(String path, int source) {}

  private static Set<Input> inputs(Job job, String[] libraries) throws IOException {
    Configuration conf = job.getConfiguration();
    conf.set(SPLITTABLE, NativeTask.splittable(of(conf), libraries));
    Set<Input> inputs = new LinkedHashSet<>();
    for (InputSplit split : new NativeInputFormat().getSplits(job)) {
      inputs.add(new Input(((FileSplit) split).getPath().toString(), SourceSplit.source(split)));
    }
    return inputs;
  }

  /** Splits as streams, opened if they are looked into. */
  private static Set<Input> samples(Job job, TaskFiles files) throws IOException, InterruptedException {
    Set<Input> names = new LinkedHashSet<>();
    InputFormat<?, ?> format = (InputFormat<?, ?>) ReflectionUtils.newInstance(loaded(job::getInputFormatClass), job.getConfiguration());
    TaskAttemptContext context =
        new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID("sample", 0, TaskType.MAP, 0, 0));
    for (InputSplit split : format.getSplits(job)) {
      String name =
          files.input(
              "sample/" + names.size(),
              Math.max(1, split.getLength()),
              () -> {
                try {
                  RecordReader<?, ?> reader = format.createRecordReader(split, context);
                  reader.initialize(split, context);
                  return RecordSource.of(reader);
                } catch (InterruptedException e) {
                  throw new IOException(e);
                }
              });
      names.add(new Input(name, 0));
    }
    return names;
  }

  /** Whether the job's keys are merged against the order of their bytes. */
  public static boolean reversed(Configuration conf) throws IOException {
    NativeLibrary.load();
    return NativeTask.reversed(of(conf));
  }

  /** What a map task may take for records; {@code compressed}: of a file that native code reads through a codec. */
  static long mapMemoryBytes(Configuration conf, boolean compressed) {
    long records = Math.max(MEMORY_BYTES_MIN, (long) conf.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB) << 20);
    return records + (compressed ? DECODER_MEMORY_BYTES : 0);
  }

  /** What a reducer may take, where its input was given so much. */
  static long reduceMemoryBytes(long ofInput) {
    return Math.max(MEMORY_BYTES_MIN, ofInput);
  }
}
