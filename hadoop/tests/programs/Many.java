import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Jobs of many tasks, one after the other, and what they leave in this JVM: {@code Many KIND,.. IN OUT TASKS,..}. It
 * prints a line after each number of tasks.
 */
public final class Many extends Configured implements Tool {
  private static final int TASKS = 25;

  /** Counts words. */
  public static class Plain extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      for (String word : line.toString().split(" ")) {
        context.write(new Text(word), new IntWritable(1));
      }
    }
  }

  /** Has state, so each task has a class loader; holds on to memory and leaves a thread-local value. */
  public static final class Stateful extends Plain {
    private static final AtomicInteger SEEN = new AtomicInteger();
    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[1 << 20]);

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      SEEN.addAndGet(BUFFER.get().length);
      super.map(key, line, context);
    }
  }

  /** Fails in the first attempt of each task. */
  public static final class Failing extends Plain {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      super.map(key, line, context);
      if (context.getTaskAttemptID().getId() == 0) {
        throw new IOException("the first attempt fails");
      }
    }
  }

  private void runJob(String kind, String in, Path out) throws Exception {
    FileSystem.getLocal(getConf()).delete(out, true);
    Job job = Job.getInstance(getConf(), kind);
    job.setJarByClass(Many.class);
    job.setMapperClass(Class.forName("Many$" + kind).asSubclass(Mapper.class));
    job.setCombinerClass(IntSumReducer.class);
    job.setReducerClass(IntSumReducer.class);
    job.setInputFormatClass(NLineInputFormat.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path(in));
    NLineInputFormat.setNumLinesPerSplit(job, 8);
    FileOutputFormat.setOutputPath(job, out);
    job.setNumReduceTasks(1);
    if (!job.waitForCompletion(false)) {
      throw new IOException("job failed");
    }
  }

  private static void print(int tasks, String temporary) throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Thread.sleep(100);
      Runtime runtime = Runtime.getRuntime();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    System.out.println("after " + tasks + " heap_kb=" + least / 1024
        + " classes=" + ManagementFactory.getClassLoadingMXBean().getLoadedClassCount()
        + " threads=" + ManagementFactory.getThreadMXBean().getThreadCount()
        + " descriptors=" + count(new File("/proc/self/fd"))
        + " directory=" + count(new File("."))
        + " java_tmp=" + count(new File(System.getProperty("java.io.tmpdir")))
        + " hadoop_tmp=" + files(new File(temporary)));
  }

  private static int count(File directory) {
    String[] names = directory.list();
    return names == null ? 0 : names.length;
  }

  private static int files(File directory) {
    int sum = 0;
    File[] found = directory.listFiles();
    for (File file : found == null ? new File[0] : found) {
      sum += 1 + files(file);
    }
    return sum;
  }

  @Override
  public int run(String[] arguments) throws Exception {
    String[] kinds = arguments[0].split(",");
    int tasks = 0;
    int jobs = 0;
    for (String limit : arguments[3].split(",")) {
      while (tasks < Integer.parseInt(limit)) {
        runJob(kinds[jobs++ % kinds.length], arguments[1], new Path(arguments[2]));
        tasks += TASKS + 1;
      }
      print(tasks, getConf().get("hadoop.tmp.dir"));
    }
    return 0;
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new Many(), arguments));
  }
}
