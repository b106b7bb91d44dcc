package org.yunti.hadoop.submit;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
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
 * whose libraries are named as they lie beside a task.
 */
public final class SubmitJob extends Configured implements Tool {
  /** As the command line of Yunti has them. */
  private static final int USAGE = 2;

  private static final int INPUT = 3;
  private static final int EXISTS = 8;
  private static final int FAILED = 1;

  /** What was asked for. */
  private record Request(
      Path jobFile, String name, List<String> inputs, String output, int reduces, List<Path> libraries, boolean overwrite,
      String facts, String program) {}

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
    List<String> inputs = new ArrayList<>();
    List<Path> libraries = new ArrayList<>();
    String facts = null;
    String program = null;
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i].equals("--overwrite")) {
        overwrite = true;
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
        case "--output" -> output = value;
        case "--facts" -> facts = value;
        case "--report-by" -> program = value;
        case "--lib" -> libraries.add(Path.of(value));
        case "--reduces" -> {
          try {
            reduces = Integer.parseInt(value);
          } catch (NumberFormatException e) {
            throw new UsageException("--reduces is no number: " + value);
          }
        }
        default -> throw new UsageException("there is no option " + arguments[i - 1]);
      }
    }
    if (jobFile == null || inputs.isEmpty() || output == null) {
      throw new UsageException("--job, --input and --output are needed");
    }
    return new Request(jobFile, name, inputs, output, reduces, libraries, overwrite, facts, program);
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
    for (String input : request.inputs()) {
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(input);
      FileStatus[] found = path.getFileSystem(conf).globStatus(path);
      if (found == null || found.length == 0) {
        return fail(INPUT, "cannot read the input: " + input + ": check the path");
      }
      FileInputFormat.addInputPath(job, path);
    }
    FileInputFormat.setInputDirRecursive(job, true);
    FileOutputFormat.setOutputPath(job, output);
    configure(job, request);
    try {
      NativeJob.prepare(job, request.libraries().stream().map(Path::toString).toList());
    } catch (IOException e) {
      return fail(INPUT, "cannot look into the input: " + e.getMessage());
    }
    if (exists) {
      outputs.delete(output, true);
    }
    return ReportJob.submitted(job, output, request.facts(), request.program()) ? 0 : FAILED;
  }

  private static void configure(Job job, Request request) throws IOException {
    Configuration conf = job.getConfiguration();
    conf.set(NativeJob.SETTING, Files.readString(request.jobFile()));
    conf.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, NativeTaskCollector.class.getName());
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NativeShuffle.class.getName());
    if (!request.libraries().isEmpty()) {
      List<String> files = new ArrayList<>();
      for (Path library : request.libraries()) {
        URI uri = library.toAbsolutePath().toUri();
        files.add(uri.toString());
      }
      // What -files sets: the submitter brings them to the cluster, and each task finds them in its directory.
      conf.set("tmpfiles", String.join(",", files));
    }
    job.setJarByClass(SubmitJob.class);
    job.setInputFormatClass(NativeInputFormat.class);
    job.setOutputFormatClass(NativeOutputFormat.class);
    job.setMapperClass(NativeMapper.class);
    job.setReducerClass(NativeReducer.class);
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(NullWritable.class);
    job.setNumReduceTasks(request.reduces());
  }

  private static int fail(int code, String message) {
    System.err.println("yunti: " + message);
    return code;
  }
}
