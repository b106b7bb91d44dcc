package org.yunti.hadoop.submit;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
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
import org.yunti.hadoop.UsageFailure;
import org.yunti.hadoop.UserCodeFailure;
import org.yunti.hadoop.oldapi.OldInputFormat;
import org.yunti.hadoop.oldapi.OldOutputFormat;
import org.yunti.hadoop.report.Submission;
import org.yunti.hadoop.shuffle.NativeShuffle;
import org.yunti.hadoop.submit.Request.Refusal;
import org.yunti.hadoop.submit.Request.Stage;
import org.yunti.hadoop.task.NativeInputFormat;
import org.yunti.hadoop.task.NativeJob;
import org.yunti.hadoop.task.NativeMapper;
import org.yunti.hadoop.task.NativeOutputFormat;
import org.yunti.hadoop.task.NativeReducer;
import org.yunti.hadoop.task.NativeTaskCollector;
import org.yunti.hadoop.warm.WarmStart;

/**
 * Submits a job to a cluster on which its tasks are native throughout. {@code yunti run --on yarn} calls it. The job
 * file names class libraries, side files and tables by their paths in a task's directory. Exit codes are the command
 * line's: 1 job failed, 2 usage, 3 input, 6 user code failed, 8 output exists.
 */
public final class SubmitJob extends Configured implements Tool {
  /** Exit codes of Yunti's command line. */
  static final int USAGE = 2;

  private static final int INPUT = 3;
  private static final int EXISTS = 8;
  private static final int FAILED = 1;
  private static final int USER_CODE = 6;

  /** Settings that name Java classes which read or write instead of native code. */
  private static final String INPUT_FORMAT = "yunti.hadoop.input.format";

  private static final String OUTPUT_FORMAT = "yunti.hadoop.output.format";

  /** Setting: requested number of map tasks. */
  private static final String MAPS = "yunti.hadoop.maps";

  /** Settings of a chain's input: jobs after the first one read natively. */
  private static final Set<String> READERS = settings(INPUT_FORMAT, MAPS, FileInputFormat.PATHFILTER_CLASS);

  /** Settings of a chain's output: jobs before the last one write for the next one. */
  private static final Set<String> WRITERS = settings(OUTPUT_FORMAT);

  private static final Set<String> BOTH = settings(INPUT_FORMAT, MAPS, FileInputFormat.PATHFILTER_CLASS, OUTPUT_FORMAT);

  private static Set<String> settings(String... names) {
    return new HashSet<>(Arrays.asList(names));
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new SubmitJob(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    try {
      Request request = Request.parse(arguments);
      return request.stages.size() == 1 ? one(request) : chain(request);
    } catch (Refusal e) {
      System.err.println("yunti: " + e.getMessage());
      return e.code;
    }
  }

  private int one(Request request) throws Exception {
    Submission submission = new Submission(request.facts != null);
    Job job = job(request, 0, Collections.emptySet());
    prepare(job, request, request.stages.get(0).inputs, output(request));
    replace(job, request);
    boolean successful = submission.run(job);
    submission.report(job, output(request), request.facts, request.program);
    return successful ? 0 : failed(job, request, "");
  }

  /** Passes on the failure of user code, if that ended the job; returns the exit code. {@code part}: its job. */
  private static int failed(Job job, Request request, String part) throws IOException, InterruptedException {
    // Hadoop leaves the directory without its parts, and a job that is tried again would find that it exists.
    FileSystem outputs = output(request).getFileSystem(job.getConfiguration());
    if (outputs.exists(output(request)) && outputs.listStatus(output(request)).length == 0) {
      outputs.delete(output(request), false);
    }
    JobFailure failure = JobFailure.of(job);
    if (failure == null || request.failure == null) {
      return FAILED;
    }
    new JobFailure(part + failure.line, failure.detail).write(request.failure);
    return USER_CODE;
  }

  /** Runs the jobs in sequence. The last job creates the output; an older output stays until that job starts. */
  private int chain(Request request) throws Exception {
    Submission submission = new Submission(request.facts != null);
    int last = request.stages.size() - 1;
    // Invalid jobs are refused before the first one runs.
    List<Job> jobs = new ArrayList<>();
    for (int number = 0; number <= last; number++) {
      jobs.add(job(request, number, number == 0 ? WRITERS : number == last ? READERS : BOTH));
    }
    try (IntermediateOutputs between = new IntermediateOutputs(getConf())) {
      for (int number = 0; number <= last; number++) {
        Job job = jobs.get(number);
        Stage stage = request.stages.get(number);
        String part = "job " + (number + 1) + " of " + (last + 1) + " (" + stage.name + ")";
        List<String> inputs = number == 0 ? stage.inputs : Collections.singletonList(between.output(number - 1).toString());
        try {
          prepare(job, request, inputs, number == last ? output(request) : between.output(number));
        } catch (Refusal e) {
          throw new Refusal(e.code, part + ": " + e.getMessage());
        }
        if (number == last) {
          replace(job, request);
        }
        if (!submission.run(job)) {
          int code = failed(job, request, part + ": ");
          if (code == FAILED) {
            System.err.println("yunti: " + part + " failed: " + job.getJobID());
          }
          return code;
        }
        if (number == last) {
          submission.report(job, output(request), request.facts, request.program);
        } else if (number > 0) {
          between.drop(number - 1);
        }
      }
    }
    return 0;
  }

  private static org.apache.hadoop.fs.Path output(Request request) {
    return new org.apache.hadoop.fs.Path(request.output);
  }

  /** Returns true if the output exists and may be replaced. Refuses if it exists and may not. */
  private static boolean exists(FileSystem outputs, Request request) throws IOException, Refusal {
    boolean exists = outputs.exists(output(request));
    if (exists && !request.overwrite) {
      throw new Refusal(EXISTS, "the output exists already: " + output(request) + ": choose another one, or add --overwrite");
    }
    return exists;
  }

  /** Removes an older output just before the job that replaces it is submitted. */
  private static void replace(Job job, Request request) throws IOException, Refusal {
    FileSystem outputs = output(request).getFileSystem(job.getConfiguration());
    if (exists(outputs, request)) {
      outputs.delete(output(request), true);
    }
  }

  /** Builds the job of a stage. {@code without} has the settings of other stages. */
  private Job job(Request request, int number, Set<String> without) throws IOException, ClassNotFoundException, Refusal {
    Stage stage = request.stages.get(number);
    Job job = Job.getInstance(getConf(), stage.name);
    Configuration conf = job.getConfiguration();
    exists(output(request).getFileSystem(conf), request);
    stage.settings.forEach(conf::set);
    without.forEach(conf::unset);
    if (without.contains(OUTPUT_FORMAT)) {
      // The cluster's configuration may turn compression on.
      conf.setBoolean(FileOutputFormat.COMPRESS, false);
    }
    if (CryptoUtils.isEncryptedSpillEnabled(conf)) {
      throw new Refusal(USAGE, "native tasks do not encrypt: turn off " + MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA);
    }
    configure(job, stage, request);
    if (!stage.sources.isEmpty()) {
      if (job.getInputFormatClass() != NativeInputFormat.class) {
        throw new Refusal(USAGE, "a job of several sources has a format for each: leave out " + INPUT_FORMAT);
      }
      conf.set(NativeJob.SOURCES, stage.sources.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
    Class<?> writes = conf.getClass(OldOutputFormat.SETTING, job.getOutputFormatClass());
    if (request.namedOutputs
        && !FileOutputFormat.class.isAssignableFrom(writes)
        && !org.apache.hadoop.mapred.FileOutputFormat.class.isAssignableFrom(writes)) {
      throw new Refusal(USAGE, "named outputs are files in the output directory, and " + writes.getName() + " has none");
    }
    if (job.getInputFormatClass() == NativeInputFormat.class && job.getOutputFormatClass() == NativeOutputFormat.class) {
      NativeJvm.apply(conf);
    }
    WarmStart.apply(conf);
    return job;
  }

  /** Sets paths, samples the input and prepares the native job. */
  private static void prepare(Job job, Request request, List<String> inputs, org.apache.hadoop.fs.Path output) throws Exception {
    Configuration conf = job.getConfiguration();
    Class<?> reads = conf.getClass(OldInputFormat.SETTING, job.getInputFormatClass());
    boolean readsFiles =
        FileInputFormat.class.isAssignableFrom(reads) || org.apache.hadoop.mapred.FileInputFormat.class.isAssignableFrom(reads);
    for (String input : inputs) {
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(input);
      FileStatus[] found = readsFiles ? path.getFileSystem(conf).globStatus(path) : new FileStatus[1];
      if (found == null || found.length == 0) {
        throw new Refusal(INPUT, "cannot read the input: " + input + ": check the path");
      }
      FileInputFormat.addInputPath(job, path);
    }
    FileInputFormat.setInputDirRecursive(job, true);
    FileOutputFormat.setOutputPath(job, output);
    try {
      limitSplits(job, readsFiles);
      String code = request.formats == null ? request.code : NativeJob.withFormats(request.code, absolute(request.formats));
      NativeJob.prepare(job, request.files.stream().map(Path::toString).collect(Collectors.toList()), code, request.complete);
      if (NativeJob.needsFormats(job)) {
        add(conf, "tmpfiles", Collections.singletonList(uri(absolute(request.formats) + "#" + NativeJob.FORMATS)));
        conf.set(NativeJob.CODE, NativeJob.withFormats(conf.getRaw(NativeJob.CODE), NativeJob.FORMATS));
      }
    } catch (UserCodeFailure e) {
      throw new Refusal(USER_CODE, line(e));
    } catch (UsageFailure e) {
      throw new Refusal(USAGE, line(e));
    } catch (IOException e) {
      throw new Refusal(INPUT, "cannot sample the input: " + e.getMessage());
    }
  }

  private static String absolute(String path) {
    return Paths.get(path).toAbsolutePath().toString();
  }

  /** Returns the first line of a failure of native code. */
  private static String line(IOException failure) {
    return failure.getMessage().split("\n", 2)[0].replaceFirst("^Yunti: ", "");
  }

  /** Limits the split size so that the requested number of maps results. */
  private static void limitSplits(Job job, boolean readsFiles) throws IOException {
    int maps = job.getConfiguration().getInt(MAPS, 0);
    if (maps <= 0) {
      return;
    }
    // Formats of the old API take the number directly.
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

  /** Adds items to a list in the configuration. */
  private static void add(Configuration conf, String list, List<String> items) {
    List<String> all = new ArrayList<>(conf.getTrimmedStringCollection(list));
    all.addAll(items);
    if (!all.isEmpty()) {
      conf.set(list, String.join(",", all));
    }
  }

  /** Returns the URI of {@code PATH#PLACE}, where the path may be a URI of another file system. */
  private static String uri(String shipped) {
    int sign = shipped.lastIndexOf('#');
    String path = shipped.substring(0, sign);
    String place = shipped.substring(sign + 1);
    try {
      if (!path.contains("://")) {
        // Path.toUri ends a directory with a slash, which leaves it without a name.
        return new URI("file", null, Paths.get(path).toAbsolutePath().toString(), null, place).toString();
      }
      // A name as it is: a space or a percent sign of a directory's name is no escape.
      URI of = new org.apache.hadoop.fs.Path(path).toUri();
      return new URI(of.getScheme(), of.getAuthority(), of.getPath(), null, place).toString();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Sources of a format: the setting, the native class, and the adapter of the old API. */
  private static final class Kind<F> {
    final String setting;
    final Class<F> kind;
    final Class<? extends F> own;
    final Class<?> old;
    final String oldSetting;
    final Class<? extends F> adapter;

    Kind(
        String setting,
        Class<F> kind,
        Class<? extends F> own,
        Class<?> old,
        String oldSetting,
        Class<? extends F> adapter) {
      this.setting = setting;
      this.kind = kind;
      this.own = own;
      this.old = old;
      this.oldSetting = oldSetting;
      this.adapter = adapter;
    }
  }

  /** Returns the Java class that the job names, or the native one. */
  private static <F> Class<? extends F> format(Configuration conf, Kind<F> of) throws Refusal {
    String name = conf.get(of.setting);
    if (name == null) {
      return of.own;
    }
    Class<?> found = conf.getClassByNameOrNull(name);
    if (found == null) {
      throw new Refusal(USAGE, "there is no class " + name + " (" + of.setting + "): add its jar to HADOOP_CLASSPATH");
    }
    if (of.old.isAssignableFrom(found) && !of.kind.isAssignableFrom(found)) {
      conf.set(of.oldSetting, name);
      return of.adapter;
    }
    if (!of.kind.isAssignableFrom(found)) {
      throw new Refusal(USAGE, name + " is not a " + of.kind.getName() + " (" + of.setting + ")");
    }
    return found.asSubclass(of.kind);
  }

  private static void configure(Job job, Stage stage, Request request) throws IOException, Refusal {
    Configuration conf = job.getConfiguration();
    conf.set(NativeJob.SETTING, new String(Files.readAllBytes(stage.jobFile), StandardCharsets.UTF_8));
    // Settings of Hadoop Streaming, which name Java classes that native tasks do not need.
    conf.unset(MRJobConfig.PARTITIONER_CLASS_ATTR);
    conf.unset(MRJobConfig.KEY_COMPARATOR);
    conf.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, NativeTaskCollector.class.getName());
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NativeShuffle.class.getName());
    List<String> files = new ArrayList<>();
    request.files.forEach(file -> files.add(file.toAbsolutePath().toUri().toString()));
    request.shipped.forEach(file -> files.add(uri(file)));
    // Settings of -files and -archives: the submitter copies them to the cluster, and each task finds them in its
    // directory.
    add(conf, "tmpfiles", files);
    add(conf, "tmparchives", request.archives.stream().map(SubmitJob::uri).collect(Collectors.toList()));
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
    NativeJob.setMapOutput(job);
    if (output == NativeOutputFormat.class) {
      job.setOutputKeyClass(NullWritable.class);
      job.setOutputValueClass(NullWritable.class);
    }
    job.setNumReduceTasks(stage.reduces);
  }
}
