package org.yunti.hadoop.submit;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.yunti.hadoop.oldapi.OldInputFormat;
import org.yunti.hadoop.oldapi.OldOutputFormat;
import org.yunti.hadoop.report.ReportJob;
import org.yunti.hadoop.shuffle.NativeShuffle;
import org.yunti.hadoop.task.NativeInputFormat;
import org.yunti.hadoop.task.NativeJob;
import org.yunti.hadoop.task.NativeMapper;
import org.yunti.hadoop.task.NativeOutputFormat;
import org.yunti.hadoop.task.NativeReducer;
import org.yunti.hadoop.task.NativeTaskCollector;

/**
 * Submits a job of the fat node to a cluster, where its tasks are native throughout. `yunti run --on yarn` calls it, with a job file
 * whose libraries and side files are named as they lie beside a task.
 */
public final class SubmitJob extends Configured implements Tool {
  /** As the command line of Yunti has them. */
  private static final int USAGE = 2;

  private static final int INPUT = 3;
  private static final int EXISTS = 8;
  private static final int FAILED = 1;

  /** Java classes that read or write in place of native code. */
  private static final String INPUT_FORMAT = "yunti.hadoop.input.format";

  private static final String OUTPUT_FORMAT = "yunti.hadoop.output.format";

  /** How many maps are wished for. */
  private static final String MAPS = "yunti.hadoop.maps";

  /** What was asked for. */
  private record Request(
      Path jobFile, String name, List<String> inputs, List<Integer> sources, String output, int reduces, List<Path> files,
      boolean overwrite, boolean namedOutputs, String facts, String program) {}

  private static final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
      super(message);
    }
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new SubmitJob(), arguments));
  }

  private static Request parse(String[] arguments) throws UsageException {
    Path jobFile = null;
    String name = "yunti";
    String output = null;
    int reduces = 1;
    boolean overwrite = false;
    boolean namedOutputs = false;
    List<String> inputs = new ArrayList<>();
    // How many of the inputs are each source's, where there are several.
    List<Integer> sources = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    String facts = null;
    String program = null;
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i].equals("--overwrite")) {
        overwrite = true;
        continue;
      }
      if (arguments[i].equals("--named-outputs")) {
        namedOutputs = true;
        continue;
      }
      if (i + 1 == arguments.length) {
        throw new UsageException(arguments[i] + " needs a value");
      }
      String value = arguments[++i];
      switch (arguments[i - 1]) {
        case "--job" -> jobFile = Path.of(value);
        case "--name" -> name = value;
        case "--input" -> inputs.add(value);
        // So many inputs are the next source's.
        case "--source" -> sources.add(number("--source", value));
        case "--output" -> output = value;
        case "--facts" -> facts = value;
        case "--report-by" -> program = value;
        case "--lib", "--file" -> files.add(Path.of(value));
        case "--reduces" -> reduces = number("--reduces", value);
        default -> throw new UsageException("there is no option " + arguments[i - 1]);
      }
    }
    if (jobFile == null || inputs.isEmpty() || output == null) {
      throw new UsageException("--job, --input and --output are needed");
    }
    return new Request(jobFile, name, inputs, sources, output, reduces, files, overwrite, namedOutputs, facts, program);
  }

  private static int number(String option, String value) throws UsageException {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new UsageException(option + " is no number: " + value);
    }
  }

  @Override
  public int run(String[] arguments) throws Exception {
    Request request;
    try {
      request = parse(arguments);
    } catch (UsageException e) {
      return fail(USAGE, e.getMessage());
    }
    Job job = Job.getInstance(getConf(), request.name());
    Configuration conf = job.getConfiguration();
    org.apache.hadoop.fs.Path output = new org.apache.hadoop.fs.Path(request.output());
    FileSystem outputs = output.getFileSystem(conf);
    boolean exists = outputs.exists(output);
    if (exists && !request.overwrite()) {
      return fail(EXISTS, "the output exists already: " + output + ": choose another one, or add --overwrite");
    }
    if (CryptoUtils.isEncryptedSpillEnabled(conf)) {
      return fail(USAGE, "native tasks do not encrypt: turn off " + MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA);
    }
    try {
      configure(job, request);
    } catch (UsageException e) {
      return fail(USAGE, e.getMessage());
    }
    Class<?> reads = conf.getClass(OldInputFormat.SETTING, job.getInputFormatClass());
    if (!request.sources().isEmpty()) {
      if (job.getInputFormatClass() != NativeInputFormat.class) {
        return fail(USAGE, "a job of several sources has a format for each: leave out " + INPUT_FORMAT);
      }
      conf.set(NativeJob.SOURCES, request.sources().stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
    Class<?> writes = conf.getClass(OldOutputFormat.SETTING, job.getOutputFormatClass());
    if (request.namedOutputs()
        && !FileOutputFormat.class.isAssignableFrom(writes)
        && !org.apache.hadoop.mapred.FileOutputFormat.class.isAssignableFrom(writes)) {
      return fail(USAGE, "named outputs are files in the output directory, and " + writes.getName() + " has none");
    }
    boolean readsFiles =
        FileInputFormat.class.isAssignableFrom(reads) || org.apache.hadoop.mapred.FileInputFormat.class.isAssignableFrom(reads);
    for (String input : request.inputs()) {
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(input);
      FileStatus[] found = readsFiles ? path.getFileSystem(conf).globStatus(path) : new FileStatus[1];
      if (found == null || found.length == 0) {
        return fail(INPUT, "cannot read the input: " + input + ": check the path");
      }
      FileInputFormat.addInputPath(job, path);
    }
    FileInputFormat.setInputDirRecursive(job, true);
    FileOutputFormat.setOutputPath(job, output);
    try {
      cut(job, readsFiles);
      NativeJob.prepare(job, request.files().stream().map(Path::toString).toList());
    } catch (IOException e) {
      return fail(INPUT, "cannot look into the input: " + e.getMessage());
    }
    if (exists) {
      outputs.delete(output, true);
    }
    return ReportJob.submitted(job, output, request.facts(), request.program()) ? 0 : FAILED;
  }

  /** The wished number of maps, as the largest split that gives so many. */
  private static void cut(Job job, boolean readsFiles) throws IOException {
    int maps = job.getConfiguration().getInt(MAPS, 0);
    if (maps <= 0) {
      return;
    }
    // What formats of the old API are asked for.
    job.getConfiguration().setInt(MRJobConfig.NUM_MAPS, maps);
    if (!readsFiles) {
      return;
    }
    long bytes = 0;
    for (org.apache.hadoop.fs.Path path : FileInputFormat.getInputPaths(job)) {
      FileSystem files = path.getFileSystem(job.getConfiguration());
      for (FileStatus found : files.globStatus(path)) {
        bytes += files.getContentSummary(found.getPath()).getLength();
      }
    }
    FileInputFormat.setMaxInputSplitSize(job, Math.max(1, (bytes + maps - 1) / maps));
  }

  /** Where a format may come from: the class that the job is given for it. */
  private record Kind<F>(String setting, Class<F> kind, Class<? extends F> own, Class<?> old, String oldSetting, Class<? extends F> adapter) {}

  /** A class of Java's that the job names, or the native one. */
  private static <F> Class<? extends F> format(Configuration conf, Kind<F> of) throws UsageException {
    String name = conf.get(of.setting());
    if (name == null) {
      return of.own();
    }
    Class<?> found = conf.getClassByNameOrNull(name);
    if (found == null) {
      throw new UsageException("there is no class " + name + " (" + of.setting() + "): is its jar on HADOOP_CLASSPATH?");
    }
    if (of.old().isAssignableFrom(found) && !of.kind().isAssignableFrom(found)) {
      conf.set(of.oldSetting(), name);
      return of.adapter();
    }
    if (!of.kind().isAssignableFrom(found)) {
      throw new UsageException(name + " is no " + of.kind().getName() + " (" + of.setting() + ")");
    }
    return found.asSubclass(of.kind());
  }

  private static void configure(Job job, Request request) throws IOException, UsageException {
    Configuration conf = job.getConfiguration();
    conf.set(NativeJob.SETTING, Files.readString(request.jobFile()));
    conf.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, NativeTaskCollector.class.getName());
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NativeShuffle.class.getName());
    if (!request.files().isEmpty()) {
      List<String> files = new ArrayList<>();
      for (Path file : request.files()) {
        URI uri = file.toAbsolutePath().toUri();
        files.add(uri.toString());
      }
      // What -files sets: the submitter brings them to the cluster, and each task finds them in its directory.
      conf.set("tmpfiles", String.join(",", files));
    }
    job.setJarByClass(SubmitJob.class);
    @SuppressWarnings("rawtypes")
    Class<? extends InputFormat> input =
        format(
            conf,
            new Kind<>(INPUT_FORMAT, InputFormat.class, NativeInputFormat.class,
                org.apache.hadoop.mapred.InputFormat.class, OldInputFormat.SETTING, OldInputFormat.class));
    @SuppressWarnings("rawtypes")
    Class<? extends OutputFormat> output =
        format(
            conf,
            new Kind<>(OUTPUT_FORMAT, OutputFormat.class, NativeOutputFormat.class,
                org.apache.hadoop.mapred.OutputFormat.class, OldOutputFormat.SETTING, OldOutputFormat.class));
    job.setInputFormatClass(input);
    job.setOutputFormatClass(output);
    job.setMapperClass(NativeMapper.class);
    job.setReducerClass(NativeReducer.class);
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    if (output == NativeOutputFormat.class) {
      job.setOutputKeyClass(NullWritable.class);
      job.setOutputValueClass(NullWritable.class);
    }
    job.setNumReduceTasks(request.reduces());
  }

  private static int fail(int code, String message) {
    System.err.println("yunti: " + message);
    return code;
  }
}
