package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
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

/** Configuration of a job whose tasks are native throughout. */
public final class NativeJob {
  /** Setting: the text of the job file (docs/formats/job-toml.md). */
  public static final String SETTING = "yunti.hadoop.job";

  /** Setting: first keys of the partitions of a total order; set by {@link #prepare}. */
  static final String BOUNDS = "yunti.hadoop.bounds";

  /** Setting: number of input paths of each source, in order, separated by commas. Unset for a single source. */
  public static final String SOURCES = "yunti.hadoop.sources";

  /**
   * Setting: true, false, {@link #BLOCKS} or {@link #UNITS} for each source, separated by commas, if its files may be
   * split; set by {@link #prepare}.
   */
  static final String SPLITTABLE = "yunti.hadoop.splittable";

  /** Value of {@link #SPLITTABLE} for lines: bzip2 files are split too. */
  static final String BLOCKS = "blocks";

  /** Value of {@link #SPLITTABLE} for files of columns: a task reads the units that begin in its split. */
  static final String UNITS = "units";

  /** Place of the library for files of columns in a task's directory. */
  public static final String FORMATS = ".yunti-formats.so";

  /** Setting: user code beside class libraries in the process, as the client writes it (user_code.rs). */
  public static final String CODE = "yunti.hadoop.code";

  /** Setting: true if keys are merged in descending order of their bytes; set by {@link #prepare}. */
  private static final String REVERSED = "yunti.hadoop.reversed";

  /** Setting: true if reduces take the records of each map apart; set by {@link #prepare}. */
  private static final String APART = "yunti.hadoop.apart";

  /**
   * Settings: the classes whose sizes MAP_OUTPUT_BYTES counts, from {@code mapreduce.map.output.key.class} and {@code
   * .value.class} as the job was submitted with (counters.rs).
   */
  private static final String[][] COUNTED = {
    {MRJobConfig.MAP_OUTPUT_KEY_CLASS, "yunti.hadoop.counted.key.class"},
    {MRJobConfig.MAP_OUTPUT_VALUE_CLASS, "yunti.hadoop.counted.value.class"}
  };

  /** Setting: names parts as the older API does, {@code part-00000}. */
  static final String PLAIN_PARTS = "output.plain.parts";

  /** Prefixes of the settings that programs and classes see, as in Hadoop Streaming. */
  private static final String[] SHOWN = {"mapreduce.job.", "mapreduce.task."};

  /** Bytes, as for the collector of Java mappers: a job that Hadoop runs with 1 MB must not fail. */
  private static final long MEMORY_BYTES_MIN = 4 << 20;

  /** Bytes for bzip2 tables and the windows of other decoders, which Hadoop also keeps outside its sort buffer. */
  private static final long DECODER_MEMORY_BYTES = 16 << 20;

  private NativeJob() {}

  /** Returns the text of the job file, or null for a job that is not native. */
  public static String of(Configuration conf) {
    return conf.getRaw(SETTING);
  }

  /**
   * Returns what native code knows of a task beyond its job (task/mod.rs): user code, number of the attempt, working
   * directory, then keys and values in turn. Without an attempt, the job is being submitted.
   */
  static String[] facts(Configuration conf, String code, TaskAttemptID attempt) {
    List<String> facts = new ArrayList<>();
    facts.add(code == null ? "" : code);
    facts.add(attempt == null ? "0" : Integer.toString(attempt.getId()));
    facts.add(System.getProperty("user.dir"));
    if (attempt != null) {
      for (Map.Entry<String, String> setting : conf) {
        if (Arrays.stream(SHOWN).anyMatch(setting.getKey()::startsWith)) {
          facts.add(setting.getKey());
          facts.add(conf.get(setting.getKey(), ""));
        }
      }
      for (String[] counted : COUNTED) {
        if (conf.get(counted[1]) != null) {
          facts.add(counted[1]);
          facts.add(conf.get(counted[1]));
        }
      }
      facts.add(MRJobConfig.MAP_CPU_VCORES);
      facts.add(conf.get(MRJobConfig.MAP_CPU_VCORES, "1"));
      facts.add(MRJobConfig.TASK_TIMEOUT);
      facts.add(conf.get(MRJobConfig.TASK_TIMEOUT, "600000"));
      for (String max : new String[] {MRJobConfig.MAP_MAX_ATTEMPTS, MRJobConfig.REDUCE_MAX_ATTEMPTS}) {
        facts.add(max);
        facts.add(conf.get(max, "4"));
      }
    }
    return facts.toArray(new String[0]);
  }

  /** Sets the classes of map output, which carry native records; keeps the job's own ones for its counters. */
  public static void setMapOutput(Job job) {
    Configuration conf = job.getConfiguration();
    for (String[] counted : COUNTED) {
      if (conf.get(counted[0]) != null) {
        conf.set(counted[1], conf.get(counted[0]));
      }
    }
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
  }

  /** Returns the facts of a task. */
  static String[] facts(TaskAttemptContext context) {
    Configuration conf = context.getConfiguration();
    return facts(conf, conf.getRaw(CODE), context.getTaskAttemptID());
  }

  private interface Named {
    Class<?> load() throws ClassNotFoundException;
  }

  private static Class<?> load(Named format) throws IOException {
    try {
      return format.load();
    } catch (ClassNotFoundException e) {
      throw new IOException("Yunti: class " + e.getMessage() + " is not on the class path", e);
    }
  }

  /** Returns true if tasks read files natively, false if a Java reader supplies the records. */
  static boolean readsNatively(JobContext job) throws IOException {
    return load(job::getInputFormatClass) == NativeInputFormat.class;
  }

  /** Returns true if tasks write files natively, false if a Java writer takes the records. */
  static boolean writesNatively(JobContext job) throws IOException {
    return load(job::getOutputFormatClass) == NativeOutputFormat.class;
  }

  /** Returns the name under which native code opens the task's output. */
  static String output(TaskInputOutputContext<?, ?, Object, Object> context, TaskFiles files) throws IOException {
    if (writesNatively(context)) {
      CompressionCodec codec = codec(context);
      String extension = codec == null ? NativeTask.extension(of(context.getConfiguration())) : codec.getDefaultExtension();
      Path file = new NativeOutputFormat().file(context, extension);
      return codec == null ? file.toString() : files.output("compressed", new CompressedOutput(context, codec, file));
    }
    NativeValue[] types = outputTypes(context.getConfiguration(), facts(context), null);
    return files.output("output", new RecordSink(context, types[0], types[1]));
  }

  /**
   * Returns Hadoop's codec if only the cluster's configuration names one, else null. The engine applies the job's own
   * codec.
   */
  static CompressionCodec codec(TaskAttemptContext context) throws IOException {
    return NativeTask.extension(of(context.getConfiguration())).isEmpty() ? NativeOutputFormat.codec(context) : null;
  }

  /**
   * Returns the key and value types of the output. {@code libraries} has their local paths, or null for the paths in
   * the job.
   */
  private static NativeValue[] outputTypes(Configuration conf, String[] facts, String[] libraries) throws IOException {
    String[] names = NativeTask.outputTypes(of(conf), facts, libraries).toUpperCase(java.util.Locale.ROOT).split(" ");
    return new NativeValue[] {NativeValue.valueOf(names[0]), NativeValue.valueOf(names[1])};
  }

  /**
   * Prepares a job; call it before submission. Determines which files may be split, and samples the input if the job
   * has a total order over several reduces. If the job names no output classes for a Java writer, sets the matching
   * ones. {@code libraries} has the local paths of the class libraries; {@code code} is the job's user code on this
   * machine. {@code complete}: what is completed by the first files, {@code columns} or {@code formats}, or null.
   */
  public static void prepare(Job job, List<String> libraries, String code, String complete)
      throws IOException, InterruptedException {
    NativeLibrary.load();
    String[] own = libraries.toArray(new String[0]);
    Configuration conf = job.getConfiguration();
    String[] facts = facts(conf, code, null);
    conf.set(SETTING, NativeTask.framed(of(conf), !readsNatively(job), !writesNatively(job)));
    if (complete != null && readsNatively(job)) {
      complete(job, facts, own, complete.equals("formats"));
    }
    if (!writesNatively(job)) {
      NativeValue[] types = outputTypes(conf, facts, own);
      if (conf.get(MRJobConfig.OUTPUT_KEY_CLASS) == null) {
        job.setOutputKeyClass(types[0].usual);
      }
      if (conf.get(MRJobConfig.OUTPUT_VALUE_CLASS) == null) {
        job.setOutputValueClass(types[1].usual);
      }
    }
    boolean[] merging = NativeTask.merging(of(conf), facts, own);
    conf.setBoolean(REVERSED, merging[0]);
    conf.setBoolean(APART, merging[1]);
    try (TaskFiles files = new TaskFiles(conf, null)) {
      Set<Input> inputs = readsNatively(job) ? inputs(job, facts, own) : samples(job, files);
      String[] paths = inputs.stream().map(input -> input.path).toArray(String[]::new);
      int[] sources = inputs.stream().mapToInt(input -> input.source).toArray();
      String bounds = NativeTask.bounds(of(conf), facts, files, own, paths, sources);
      if (bounds != null) {
        conf.set(BOUNDS, bounds);
      }
    }
  }

  private static void complete(Job job, String[] facts, String[] libraries, boolean recognises) throws IOException {
    Configuration conf = job.getConfiguration();
    Set<Input> firsts = FirstFiles.of(job);
    try (TaskFiles files = new TaskFiles(conf, null)) {
      String[] paths = firsts.stream().map(input -> input.path).toArray(String[]::new);
      int[] sources = firsts.stream().mapToInt(input -> input.source).toArray();
      String[] done = NativeTask.complete(of(conf), facts, files, libraries, paths, sources, recognises);
      conf.set(SETTING, done[0]);
      job.setNumReduceTasks(Integer.parseInt(done[1]));
    }
  }

  /** Returns true if the job reads or writes files of columns natively. */
  public static boolean needsFormats(Job job) throws IOException {
    return NativeTask.needsFormats(of(job.getConfiguration()));
  }

  /** Returns user code with the library for files of columns (user_code.rs). */
  public static String withFormats(String code, String path) {
    return (code == null ? "" : code) + "formats " + path + "\n";
  }

  /** Input file, or a stream that is named like one. */
  static final class Input {
    final String path;
    final int source;

    Input(String path, int source) {
      this.path = path;
      this.source = source;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Input && path.equals(((Input) other).path) && source == ((Input) other).source;
    }

    @Override
    public int hashCode() {
      return 31 * path.hashCode() + source;
    }
  }

  private static Set<Input> inputs(Job job, String[] facts, String[] libraries) throws IOException {
    Configuration conf = job.getConfiguration();
    conf.set(SPLITTABLE, NativeTask.splittable(of(conf), facts, libraries));
    Set<Input> inputs = new LinkedHashSet<>();
    for (InputSplit split : new NativeInputFormat().getSplits(job)) {
      inputs.add(new Input(((FileSplit) split).getPath().toString(), SourceSplit.source(split)));
    }
    return inputs;
  }

  /** Returns the splits as streams, which are opened when sampled. */
  private static Set<Input> samples(Job job, TaskFiles files) throws IOException, InterruptedException {
    Set<Input> names = new LinkedHashSet<>();
    InputFormat<?, ?> format = (InputFormat<?, ?>) ReflectionUtils.newInstance(load(job::getInputFormatClass), job.getConfiguration());
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

  /** Returns true if the job's keys are merged in descending order of their bytes. */
  public static boolean reversed(Configuration conf) {
    return conf.getBoolean(REVERSED, false);
  }

  /** Returns true if the job's reduces take the records of each map apart. */
  public static boolean takesMapsApart(Configuration conf) {
    return conf.getBoolean(APART, false);
  }

  /** Returns the memory of a map task in bytes. {@code compressed}: native code reads its file through a codec. */
  static long mapMemoryBytes(Configuration conf, boolean compressed) {
    long records = Math.max(MEMORY_BYTES_MIN, (long) conf.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB) << 20);
    return records + (compressed ? DECODER_MEMORY_BYTES : 0);
  }

  /** Returns the memory of a reducer in bytes, given the memory of its input. */
  static long reduceMemoryBytes(long ofInput) {
    return Math.max(MEMORY_BYTES_MIN, ofInput);
  }
}
