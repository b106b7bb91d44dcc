import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.LineReader;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Costs of word count without a framework, and the time of the next job of a program.
 *
 * <pre>
 *   OneMachine bare THREADS OUT FILE ..      the mapper's loop alone; OUT gets the number of words
 *   OneMachine jobs COUNT IN OUT             COUNT word counts one after the other; OUT/times gets milliseconds
 * </pre>
 */
public final class OneMachine extends Configured implements Tool {
  /** Word count of Hadoop's examples. */
  public static final class Words extends Mapper<Object, Text, Text, IntWritable> {
    private static final IntWritable ONE = new IntWritable(1);
    private final Text word = new Text();

    @Override
    protected void map(Object key, Text line, Context context) throws IOException, InterruptedException {
      StringTokenizer words = new StringTokenizer(line.toString());
      while (words.hasMoreTokens()) {
        word.set(words.nextToken());
        context.write(word, ONE);
      }
    }
  }

  /** Drops what a mapper writes. */
  public static final class NullCollector<K, V> implements MapOutputCollector<K, V> {
    private Context context;

    @Override
    public void init(Context context) {
      this.context = context;
    }

    @Override
    public void collect(K key, V value, int partition) {}

    @Override
    public void flush() throws IOException {
      // Reduces look for a file of each map.
      int parts = context.getJobConf().getNumReduceTasks();
      org.apache.hadoop.mapred.MapOutputFile files = context.getMapTask().getMapOutputFile();
      Configuration conf = context.getJobConf();
      org.apache.hadoop.fs.FileSystem local = org.apache.hadoop.fs.FileSystem.getLocal(conf);
      org.apache.hadoop.mapred.SpillRecord index = new org.apache.hadoop.mapred.SpillRecord(parts);
      try (org.apache.hadoop.fs.FSDataOutputStream out = local.create(files.getOutputFileForWrite(16L * parts))) {
        for (int part = 0; part < parts; part++) {
          long start = out.getPos();
          org.apache.hadoop.mapred.IFile.Writer<Text, LongWritable> empty =
              new org.apache.hadoop.mapred.IFile.Writer<>(conf, out, Text.class, LongWritable.class, null, null);
          empty.close();
          index.putIndex(new org.apache.hadoop.mapred.IndexRecord(start, empty.getRawLength(),
              empty.getCompressedLength()), part);
        }
      }
      index.writeToFile(files.getOutputIndexFileForWrite(24L * parts), context.getJobConf());
    }

    @Override
    public void close() {}
  }

  private static void bare(int threads, String out, List<String> files) throws Exception {
    AtomicLong words = new AtomicLong();
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int first = i;
      Thread thread = new Thread(() -> {
        try {
          for (int f = first; f < files.size(); f += threads) {
            words.addAndGet(words(files.get(f)));
          }
        } catch (IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      });
      thread.start();
      started.add(thread);
    }
    for (Thread thread : started) {
      thread.join();
    }
    try (PrintWriter to = new PrintWriter(out)) {
      to.println(words);
    }
  }

  private static long words(String file) throws IOException {
    Text line = new Text();
    Text word = new Text();
    long count = 0;
    try (FileInputStream in = new FileInputStream(file)) {
      LineReader lines = new LineReader(in);
      while (lines.readLine(line) > 0) {
        StringTokenizer words = new StringTokenizer(line.toString());
        while (words.hasMoreTokens()) {
          word.set(words.nextToken());
          count++;
        }
      }
    }
    return count;
  }

  @Override
  public int run(String[] arguments) throws Exception {
    int count = Integer.parseInt(arguments[0]);
    new File(arguments[2]).mkdirs();
    try (PrintWriter times = new PrintWriter(arguments[2] + "/times")) {
      for (int i = 0; i < count; i++) {
        Job job = Job.getInstance(new Configuration(getConf()), "next");
        job.setJarByClass(OneMachine.class);
        job.setMapperClass(Words.class);
        job.setCombinerClass(IntSumReducer.class);
        job.setReducerClass(IntSumReducer.class);
        job.setOutputKeyClass(Text.class);
        job.setOutputValueClass(IntWritable.class);
        FileInputFormat.addInputPath(job, new Path(arguments[1]));
        FileOutputFormat.setOutputPath(job, new Path(arguments[2] + "/" + i));
        long start = System.nanoTime();
        if (!job.waitForCompletion(false)) {
          return 1;
        }
        times.println((System.nanoTime() - start) / 1e6);
      }
    }
    return 0;
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("bare")) {
      List<String> rest = java.util.Arrays.asList(arguments);
      bare(Integer.parseInt(arguments[1]), arguments[2], rest.subList(3, rest.size()));
      return;
    }
    System.exit(ToolRunner.run(new OneMachine(), java.util.Arrays.copyOfRange(arguments, 1, arguments.length)));
  }
}
