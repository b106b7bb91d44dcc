package org.yunti.hadoop.submit;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.util.VersionInfo;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.Verdict;
import org.yunti.hadoop.collect.CodecSetting;
import org.yunti.hadoop.collect.RecordWriter;
import org.yunti.hadoop.key.KeyWriters.Use;

/**
 * {@code yunti hadoop check}: lists what runs natively with this configuration, what declines, and why. It then runs a
 * small job on the cluster and prints its counters. {@code --tune} also proposes options of JVMs ({@link Tune}).
 *
 * <p>Exit code 0 if the small job was native throughout, else 1; 2 if an option is wrong.
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
  private static final int USAGE = 2;

  /** MiB of a JVM beside its heap and the records: code, metaspace, thread stacks. */
  private static final int JVM_MB = 104;

  private static final int UNIT_BITS = 10;

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
    if (arguments.length > 0 && !Arrays.equals(arguments, new String[] {"--tune"})) {
      System.err.println("yunti: there is no option " + String.join(" ", arguments) + ": yunti hadoop check [--tune]");
      return USAGE;
    }
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
    if (!runSmallJob()) {
      return 1;
    }
    if (arguments.length > 0) {
      new Tune(getConf()).run();
    }
    return 0;
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
      int heap = heapMb(job.getTaskJavaOpts(type));
      int outside = JVM_MB + (type == TaskType.MAP ? sort : 0);
      if (heap + outside > container) {
        System.out.printf(
            "  %-24s the container has %d MiB less than heap and records may need: set mapreduce.%s.java.opts=-Xmx%dm%n",
            "", heap + outside - container, type.toString().toLowerCase(java.util.Locale.ROOT), container - outside);
      }
    }
  }

  /** Returns the heap that options of a JVM allow, in MiB, or 0 if they name none. */
  static int heapMb(String options) {
    Matcher last = Pattern.compile("-Xmx(\\d+)([kKmMgG]?)").matcher(options);
    long bytes = 0;
    while (last.find()) {
      int unit = " kmg".indexOf(last.group(2).isEmpty() ? ' ' : Character.toLowerCase(last.group(2).charAt(0)));
      bytes = Long.parseLong(last.group(1)) << (UNIT_BITS * unit);
    }
    return (int) (bytes >> (2 * UNIT_BITS));
  }

  /** Runs the small job; returns true if it was native throughout. */
  private boolean runSmallJob() throws IOException, InterruptedException, ClassNotFoundException {
    System.out.println("a job of one map and one reduce");
    SmallJob job = SmallJob.run(getConf());
    if (job.failure != null) {
      System.out.println("  failed: " + job.failure);
      return false;
    }
    long own = 0;
    for (Counter counter : job.counters.getGroup(Verdict.COUNTERS)) {
      System.out.printf("  %-24s %d tasks%n", counter.getName(), counter.getValue());
      own += counter.getName().equals("native") ? counter.getValue() : 0;
    }
    return own == SmallJob.TASKS;
  }
}
