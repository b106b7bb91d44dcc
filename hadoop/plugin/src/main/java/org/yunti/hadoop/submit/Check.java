package org.yunti.hadoop.submit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.util.VersionInfo;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.Verdict;
import org.yunti.hadoop.collect.CodecSetting;
import org.yunti.hadoop.collect.NativeMapOutputCollector;
import org.yunti.hadoop.collect.RecordWriter;
import org.yunti.hadoop.key.KeyWriters.Use;
import org.yunti.hadoop.shuffle.NativeShuffle;

/**
 * {@code yunti hadoop check}: lists what runs natively with this configuration, what declines, and why. It then runs a
 * small job on the cluster and prints its counters. Exit code 0 if that job was native throughout, else 1.
 */
public final class Check extends Configured implements Tool {
  /** Versions that the tests run on (docs/guide/hadoop.md). */
  private static final List<String> HADOOP_TESTED = Arrays.asList("3.1", "3.3", "3.4", "3.5");

  private static final List<String> JAVA_TESTED = Arrays.asList("8", "11", "17", "21", "25");

  private static final List<String> KEYS =
      Arrays.asList(
          "Text", "BytesWritable", "IntWritable", "LongWritable", "ShortWritable", "ByteWritable", "BooleanWritable",
          "FloatWritable", "DoubleWritable", "VIntWritable", "VLongWritable", "MD5Hash", "NullWritable", "UTF8");
  private static final List<String> CODECS =
      Arrays.asList(
          "DefaultCodec", "DeflateCodec", "GzipCodec", "BZip2Codec", "SnappyCodec", "Lz4Codec", "ZStandardCodec",
          "PassthroughCodec");
  /** Tasks of the job: one map and one reduce. */
  private static final int TASKS = 2;

  /** Attempt that may decline. */
  private interface Trial {
    void run() throws IOException, ClassNotFoundException;
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new Check(), arguments));
  }

  private static void printRow(String what, Trial trial) {
    String verdict = "native";
    try {
      trial.run();
    } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
      verdict = "declined: " + e.getMessage();
    }
    System.out.printf("  %-24s %s%n", what, verdict);
  }

  @Override
  public int run(String[] arguments) throws Exception {
    JobConf job = new JobConf(getConf());
    String hadoop = VersionInfo.getVersion();
    System.out.println("Hadoop " + hadoop + ", " + job.get(MRConfig.FRAMEWORK_NAME, "local") + hint(hadoop, HADOOP_TESTED));
    String java = System.getProperty("java.version");
    System.out.println("Java " + java + ", on this machine" + hint(java, JAVA_TESTED));
    printRow("library, on this machine", NativeLibrary::load);
    System.out.println("map output");
    if (job.getCompressMapOutput()) {
      printRow("codec of this setup", () -> CodecSetting.of(job));
    }
    printRow("not compressed", () -> CodecSetting.of(with(MRJobConfig.MAP_OUTPUT_COMPRESS, "false")));
    for (String codec : CODECS) {
      printRow(codec, () -> CodecSetting.of(compressed(codec)));
    }
    System.out.println("keys, with their own comparators");
    for (String key : KEYS) {
      printRow(key, () -> new RecordWriter<>(keyed(key), RecordWriter.From.MAPPER, Use.MAP));
    }
    memory(job);
    return runSmallJob() ? 0 : 1;
  }

  /** Returns a remark for a version outside the tested ones, or nothing. */
  static String hint(String version, List<String> tested) {
    // Java 8 calls itself 1.8; vendors append parts of their own to Hadoop's.
    String own = version.replaceFirst("^1\\.", "") + ".";
    return tested.stream().anyMatch(release -> own.startsWith(release + ".") || own.startsWith(release + "-"))
        ? ""
        : ": not tested, only " + String.join(", ", tested);
  }

  private JobConf with(String name, String value) {
    JobConf job = new JobConf(getConf());
    job.set(name, value);
    return job;
  }

  private JobConf compressed(String codec) {
    JobConf job = with(MRJobConfig.MAP_OUTPUT_COMPRESS, "true");
    job.set(MRJobConfig.MAP_OUTPUT_COMPRESS_CODEC, "org.apache.hadoop.io.compress." + codec);
    return job;
  }

  private JobConf keyed(String key) throws ClassNotFoundException {
    JobConf job = new JobConf(getConf());
    job.setMapOutputKeyClass(Class.forName("org.apache.hadoop.io." + key));
    job.setMapOutputValueClass(Text.class);
    return job;
  }

  private static void memory(JobConf job) {
    int sort = job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB);
    System.out.println("memory outside the Java heap");
    for (TaskType type : new TaskType[] {TaskType.MAP, TaskType.REDUCE}) {
      int container = job.getMemoryRequired(type);
      String what = type == TaskType.MAP ? sort + " MiB for records" : "the rest beside heap and JVM";
      System.out.printf(
          "  %-24s %s, in a container of %d MiB with %s%n",
          type.toString().toLowerCase(java.util.Locale.ROOT), what, container, job.getTaskJavaOpts(type));
    }
  }

  /** Runs a small job; returns true if it was native throughout. */
  private boolean runSmallJob() throws IOException, InterruptedException, ClassNotFoundException {
    Configuration conf = new Configuration(getConf());
    conf.set(
        MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR,
        NativeMapOutputCollector.class.getName() + ",org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NativeShuffle.class.getName());
    FileSystem files = FileSystem.get(conf);
    Path folder = new Path("/tmp/yunti-check-" + System.nanoTime());
    try {
      try (FSDataOutputStream out = files.create(new Path(folder, "in/text"))) {
        out.write("a b a\n".getBytes(StandardCharsets.UTF_8));
      }
      Job job = Job.getInstance(conf, "yunti hadoop check");
      job.setJarByClass(Check.class);
      job.setMapperClass(TokenCounterMapper.class);
      job.setReducerClass(IntSumReducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(IntWritable.class);
      job.setNumReduceTasks(1);
      FileInputFormat.addInputPath(job, new Path(folder, "in"));
      FileOutputFormat.setOutputPath(job, new Path(folder, "out"));
      System.out.println("a job of one map and one reduce");
      if (!job.waitForCompletion(false)) {
        System.out.println("  failed: " + job.getStatus().getFailureInfo());
        return false;
      }
      long own = 0;
      for (Counter counter : job.getCounters().getGroup(Verdict.COUNTERS)) {
        System.out.printf("  %-24s %d tasks%n", counter.getName(), counter.getValue());
        own += counter.getName().equals("native") ? counter.getValue() : 0;
      }
      return own == TASKS;
    } finally {
      files.delete(folder, true);
    }
  }
}
