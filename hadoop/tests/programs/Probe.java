import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** One job a way of using a task's JVM: {@code Probe MODE IN OUT}. */
public final class Probe extends Configured implements Tool {
  public static final class Words extends Mapper<LongWritable, Text, Text, IntWritable> {
    private final Text word = new Text();
    private final IntWritable one = new IntWritable(1);

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      for (String next : line.toString().split("\\s+")) {
        if (!next.isEmpty()) {
          word.set(next);
          context.write(word, one);
        }
      }
    }
  }

  public static final class Sum extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      context.write(key, new IntWritable(sum));
    }
  }

  /** Fails always, or in the first attempts. */
  public static final class Failing extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) {
      int attempt = context.getTaskAttemptID().getId();
      if (attempt < context.getConfiguration().getInt("probe.failures", Integer.MAX_VALUE)) {
        throw new IllegalStateException("probe fails in attempt " + attempt);
      }
    }
  }

  public static final class Exiting extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) {
      System.exit(0);
    }
  }

  /** Halts its JVM in the first attempt. */
  public static final class Halting extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      if (context.getTaskAttemptID().getId() == 0) {
        Runtime.getRuntime().halt(7);
      }
      context.write(new Text("second"), new IntWritable(1));
    }
  }

  /** Writes how many tasks its static field has seen. */
  public static final class Static extends Mapper<LongWritable, Text, Text, IntWritable> {
    private static final AtomicInteger TASKS = new AtomicInteger();

    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      context.write(new Text("tasks"), new IntWritable(TASKS.incrementAndGet()));
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) {}
  }

  public static final class Each extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      for (IntWritable value : values) {
        context.write(key, value);
      }
    }
  }

  /** Reads the link of a cache file in the working directory. */
  public static final class Cached extends Mapper<LongWritable, Text, Text, IntWritable> {
    private String first;

    @Override
    protected void setup(Context context) throws IOException {
      try (BufferedReader in = new BufferedReader(new FileReader(new File("side.txt")))) {
        first = in.readLine();
      }
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      context.write(new Text(first), new IntWritable(1));
    }
  }

  /** Loads a library of the program's own. */
  public static final class Native extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void setup(Context context) {
      System.loadLibrary("probe");
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      context.write(new Text("loaded"), new IntWritable(1));
    }
  }

  public static final class Hooked extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void setup(Context context) {
      String file = context.getConfiguration().get("probe.hook.directory") + "/" + context.getTaskAttemptID();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        try {
          new File(file).createNewFile();
        } catch (IOException e) {
          e.printStackTrace();
        }
      }));
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) {}
  }

  /** Keeps its lines in a file of the working directory, as a task of a cluster may. */
  public static final class Scratch extends Mapper<LongWritable, Text, Text, IntWritable> {
    private FileWriter scratch;

    @Override
    protected void setup(Context context) throws IOException {
      scratch = new FileWriter("scratch.txt", true);
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException {
      scratch.write(line + "\n");
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      scratch.close();
      int lines = 0;
      try (BufferedReader in = new BufferedReader(new FileReader("scratch.txt"))) {
        while (in.readLine() != null) {
          lines++;
        }
      }
      context.write(new Text("lines of a task"), new IntWritable(lines));
    }
  }

  /** Leaves a thread that would hold a JVM. */
  public static final class Threaded extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      Executors.newSingleThreadExecutor().submit(() -> null);
      context.write(line, new IntWritable(1));
    }
  }

  /** Writes a property and variables of its JVM. */
  public static final class Options extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      String variables = System.getenv("PROBE_SHAPE") + " " + System.getenv("LD_LIBRARY_PATH");
      context.write(new Text(System.getProperty("probe.colour") + " " + variables.replaceAll("[^ :]*/worker-\\d+", "DIR")),
          new IntWritable(1));
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) {}
  }

  /** Prints and reads past {@code System}, keeps state, writes a file, and tells its JVM and its collector. */
  public static final class Raw extends Mapper<LongWritable, Text, Text, IntWritable> {
    private static final AtomicInteger TASKS = new AtomicInteger();

    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      new FileOutputStream(FileDescriptor.out).write("between messages\n".getBytes());
      try (FileWriter file = new FileWriter("own.txt")) {
        file.write(System.in.read() < 0 ? "no input" : "input");
      }
      String process = ManagementFactory.getRuntimeMXBean().getName();
      context.write(new Text(process + " " + collector()), new IntWritable(TASKS.incrementAndGet()));
    }

    static String collector() {
      return ManagementFactory.getGarbageCollectorMXBeans().get(0).getName().substring(0, 2);
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) {}
  }

  /** Adds the reduce's collector to what {@link Raw} wrote. */
  public static final class RawEach extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      for (IntWritable value : values) {
        context.write(new Text(key + " " + Raw.collector()), value);
      }
    }
  }

  /** Uses a class of a jar that came with -libjars. */
  public static final class Shipped extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      try {
        context.write(new Text(Class.forName("shipped.Word").newInstance().toString()), new IntWritable(1));
      } catch (ReflectiveOperationException e) {
        throw new IOException(e);
      }
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) {}
  }

  public static final class Slow extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      System.out.println("slow " + line);
      Thread.sleep(context.getConfiguration().getInt("probe.sleep", 1000));
      context.write(line, new IntWritable(1));
    }
  }

  /** Computes for ever, and hears no interrupt. */
  public static final class Stuck extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) {
      if (context.getTaskAttemptID().getId() == 0) {
        while (System.nanoTime() != 0) {
          Math.sqrt(2);
        }
      }
    }
  }

  public static final class Hungry extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      if (context.getTaskAttemptID().getId() == 0) {
        long[][] all = new long[1 << 20][];
        for (int i = 0; i < all.length; i++) {
          all[i] = new long[1 << 20];
        }
      }
      context.write(new Text("fed"), new IntWritable(1));
    }
  }

  /** Writes 64 KB for each line, in keys that differ. */
  public static final class Flood extends Mapper<LongWritable, Text, Text, IntWritable> {
    private final byte[] text = new byte[64 << 10];

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      long random = context.getTaskAttemptID().getTaskID().getId() * 1_000_003L + key.get();
      for (int i = 0; i < text.length; i++) {
        random = random * 6364136223846793005L + 1442695040888963407L;
        text[i] = (byte) ('a' + (random >>> 33) % 26);
      }
      context.write(new Text(text), new IntWritable(1));
    }
  }

  public static final class Deep extends Mapper<LongWritable, Text, Text, IntWritable> {
    private int deeper(int n) {
      return deeper(n + 1) + 1;
    }

    @Override
    protected void map(LongWritable key, Text line, Context context) {
      deeper(0);
    }
  }

  private static Class<? extends Reducer<Text, IntWritable, Text, IntWritable>> reducer(String mode) {
    if (mode.equals("Raw")) {
      return RawEach.class;
    }
    return mode.equals("Static") || mode.equals("Scratch") ? Each.class : Sum.class;
  }

  private Job job(String mode, String in, String out) throws IOException, ClassNotFoundException {
    Job job = Job.getInstance(getConf(), "probe " + mode);
    job.setJarByClass(Probe.class);
    Class<?> mapper = Class.forName("Probe$" + mode);
    job.setMapperClass(mapper.asSubclass(Mapper.class));
    job.setReducerClass(reducer(mode));
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path(in));
    FileOutputFormat.setOutputPath(job, new Path(out));
    String side = getConf().get("probe.side");
    if (side != null) {
      job.addCacheFile(URI.create(new File(side).toURI() + "#side.txt"));
    }
    return job;
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments[0].equals("Two")) {
      return two(arguments);
    }
    Job job = job(arguments[0], arguments[1], arguments[2]);
    if (getConf().getBoolean("probe.leave", false)) {
      job.submit();
      return 0;
    }
    boolean isGood = job.waitForCompletion(true);
    for (TaskReport report : job.getTaskReports(TaskType.MAP)) {
      System.out.println("report " + report.getTaskId() + " " + report.getCurrentStatus() + " " + report.getProgress());
    }
    System.out.println("map progress " + job.mapProgress() + ", events " + job.getTaskCompletionEvents(0, 100).length);
    return isGood ? 0 : 1;
  }

  /** Two jobs at once, with cache files of the same name. */
  private int two(String[] arguments) throws Exception {
    Job[] jobs = new Job[2];
    for (int i = 0; i < jobs.length; i++) {
      Configuration conf = new Configuration(getConf());
      setConf(conf);
      conf.set("probe.side", arguments[3 + i]);
      jobs[i] = job("Cached", arguments[1], arguments[2] + "/" + i);
      jobs[i].submit();
    }
    boolean isGood = true;
    for (Job job : jobs) {
      while (!job.isComplete()) {
        Thread.sleep(20);
      }
      isGood &= job.isSuccessful();
    }
    return isGood ? 0 : 1;
  }

  public static void main(String[] arguments) throws Exception {
    int code = ToolRunner.run(new Configuration(), new Probe(), arguments);
    if (code != 0) {
      System.exit(code);
    }
  }
}
