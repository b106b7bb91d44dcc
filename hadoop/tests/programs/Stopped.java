import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Jobs whose first attempts do not end until the driver kills them: {@code Stopped KIND,.. IN OUT}. All run at once,
 * for each kind, API and phase. {@code cleanup} and {@code close} leave a file in the directory {@code stopped.marks}.
 */
public final class Stopped extends Configured implements Tool {
  /** Does not return in the first attempt of a task. */
  static void behave(Configuration conf) throws IOException {
    String kind = conf.get("stopped.kind");
    if (!conf.get("mapreduce.task.attempt.id").endsWith("_0")) {
      return;
    }
    mark(conf, "begins");
    if (kind.equals("sleeps")) {
      sleep(600_000);
    } else if (kind.equals("catches")) {
      for (int i = 0; i < 10; i++) {
        try {
          sleep(2_000);
        } catch (Throwable e) {
          System.out.println("caught " + e);
        }
      }
    } else if (kind.equals("computes")) {
      while (System.nanoTime() != 0) {
        Math.sqrt(2);
      }
    } else if (kind.equals("deadlocks")) {
      deadlock();
    }
  }

  private static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      System.out.println("user code heard an interrupt");
    }
  }

  private static void deadlock() {
    Object ours = new Object();
    Object theirs = new Object();
    synchronized (ours) {
      Thread other = new Thread(() -> {
        synchronized (theirs) {
          synchronized (ours) {
            theirs.notifyAll();
          }
        }
      });
      other.setDaemon(true);
      other.start();
      sleep(200);
      synchronized (theirs) {
        theirs.notifyAll();
      }
    }
  }

  static void mark(Configuration conf, String what) throws IOException {
    String attempt = conf.get("mapreduce.task.attempt.id");
    FileSystem.getLocal(conf).create(mark(conf, what, attempt)).close();
  }

  private static Path mark(Configuration conf, String what, String attempt) {
    return new Path(conf.get("stopped.marks"), what + "." + conf.get("stopped.name") + "." + attempt);
  }

  private static boolean isHere(Configuration conf, boolean isMap) {
    return conf.getBoolean("stopped.in.map", true) == isMap;
  }

  public static final class NewMap extends Mapper<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      if (isHere(context.getConfiguration(), true)) {
        behave(context.getConfiguration());
      }
      context.write(key, line);
    }

    @Override
    protected void cleanup(Context context) throws IOException {
      mark(context.getConfiguration(), "ends");
    }
  }

  public static final class NewReduce extends Reducer<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void reduce(LongWritable key, Iterable<Text> lines, Context context)
        throws IOException, InterruptedException {
      if (isHere(context.getConfiguration(), false)) {
        behave(context.getConfiguration());
      }
      for (Text line : lines) {
        context.write(key, line);
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException {
      mark(context.getConfiguration(), "ends");
    }
  }

  public static final class OldMap extends MapReduceBase
      implements org.apache.hadoop.mapred.Mapper<LongWritable, Text, LongWritable, Text> {
    private JobConf conf;

    @Override
    public void configure(JobConf job) {
      conf = job;
    }

    @Override
    public void map(LongWritable key, Text line, OutputCollector<LongWritable, Text> out, Reporter reporter)
        throws IOException {
      if (isHere(conf, true)) {
        behave(conf);
      }
      out.collect(key, line);
    }

    @Override
    public void close() throws IOException {
      mark(conf, "ends");
    }
  }

  public static final class OldReduce extends MapReduceBase
      implements org.apache.hadoop.mapred.Reducer<LongWritable, Text, LongWritable, Text> {
    private JobConf conf;

    @Override
    public void configure(JobConf job) {
      conf = job;
    }

    @Override
    public void reduce(LongWritable key, Iterator<Text> lines, OutputCollector<LongWritable, Text> out,
        Reporter reporter) throws IOException {
      if (isHere(conf, false)) {
        behave(conf);
      }
      while (lines.hasNext()) {
        out.collect(key, lines.next());
      }
    }

    @Override
    public void close() throws IOException {
      mark(conf, "ends");
    }
  }

  private Job job(String kind, boolean isNew, boolean isMap, String in, String out) throws IOException {
    String name = kind + (isNew ? ".new" : ".old") + (isMap ? ".map" : ".reduce");
    JobConf conf = new JobConf(getConf());
    conf.setJobName(name);
    conf.setJarByClass(Stopped.class);
    conf.set("stopped.kind", kind);
    conf.set("stopped.name", name);
    conf.setBoolean("stopped.in.map", isMap);
    conf.setOutputKeyClass(LongWritable.class);
    conf.setOutputValueClass(Text.class);
    if (!isNew) {
      conf.setMapperClass(OldMap.class);
      conf.setReducerClass(OldReduce.class);
      conf.setNumMapTasks(1);
    }
    Job job = Job.getInstance(conf);
    if (isNew) {
      job.setMapperClass(NewMap.class);
      job.setReducerClass(NewReduce.class);
      FileInputFormat.addInputPath(job, new Path(in));
      FileOutputFormat.setOutputPath(job, new Path(out, name));
    } else {
      JobConf old = (JobConf) job.getConfiguration();
      org.apache.hadoop.mapred.FileInputFormat.addInputPath(old, new Path(in));
      org.apache.hadoop.mapred.FileOutputFormat.setOutputPath(old, new Path(out, name));
    }
    return job;
  }

  @Override
  public int run(String[] arguments) throws Exception {
    List<Job> jobs = new ArrayList<>();
    for (String kind : arguments[0].split(",")) {
      for (int i = 0; i < 4; i++) {
        Job job = job(kind, i % 2 == 0, i / 2 == 0, arguments[1], arguments[2]);
        job.submit();
        jobs.add(job);
      }
    }
    boolean isGood = true;
    for (Job job : jobs) {
      kill(job);
    }
    for (Job job : jobs) {
      isGood &= job.waitForCompletion(false);
      System.out.println("job " + job.getJobName() + " " + job.getJobState());
      for (TaskCompletionEvent event : job.getTaskCompletionEvents(0, 100)) {
        System.out.println("event " + event.getEventId() + " " + event.getTaskAttemptId() + " " + event.getStatus());
      }
    }
    return isGood ? 0 : 1;
  }

  /** Kills the first attempt of the task that does not end, once it has begun. */
  private static void kill(Job job) throws IOException, InterruptedException {
    Configuration conf = job.getConfiguration();
    boolean isMap = conf.getBoolean("stopped.in.map", true);
    TaskID task = new TaskID(job.getJobID(), isMap ? TaskType.MAP : TaskType.REDUCE, 0);
    TaskAttemptID attempt = new TaskAttemptID(task, 0);
    while (!job.isComplete() && !FileSystem.getLocal(conf).exists(mark(conf, "begins", attempt.toString()))) {
      Thread.sleep(50);
    }
    job.killTask(attempt);
  }

  public static void main(String[] arguments) throws Exception {
    int code = ToolRunner.run(new Configuration(), new Stopped(), arguments);
    if (code != 0) {
      System.exit(code);
    }
  }
}
