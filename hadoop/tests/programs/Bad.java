import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
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
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** Job that fails at lines with {@code bad map} and {@code bad reduce}: {@code Bad API IN OUT}. */
public final class Bad extends Configured implements Tool {
  /** Throws, or halts the JVM. */
  static void check(Text line, String bad) {
    if (line.toString().contains(bad + " halt")) {
      Runtime.getRuntime().halt(9);
    } else if (line.toString().contains(bad)) {
      throw new IllegalStateException("this line is bad: " + line);
    }
  }

  public static final class NewMap extends Mapper<LongWritable, Text, Text, Text> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      check(line, "bad map");
      context.write(line, line);
    }
  }

  public static final class NewReduce extends Reducer<Text, Text, Text, Text> {
    @Override
    protected void reduce(Text key, Iterable<Text> lines, Context context) throws IOException, InterruptedException {
      for (Text line : lines) {
        check(line, "bad reduce");
        context.write(key, line);
      }
    }
  }

  public static final class OldMap extends MapReduceBase
      implements org.apache.hadoop.mapred.Mapper<LongWritable, Text, Text, Text> {
    @Override
    public void map(LongWritable key, Text line, OutputCollector<Text, Text> out, Reporter reporter)
        throws IOException {
      check(line, "bad map");
      out.collect(line, line);
    }
  }

  public static final class OldReduce extends MapReduceBase
      implements org.apache.hadoop.mapred.Reducer<Text, Text, Text, Text> {
    @Override
    public void reduce(Text key, Iterator<Text> lines, OutputCollector<Text, Text> out, Reporter reporter)
        throws IOException {
      while (lines.hasNext()) {
        Text line = lines.next();
        check(line, "bad reduce");
        out.collect(key, line);
      }
    }
  }

  @Override
  public int run(String[] arguments) throws Exception {
    JobConf conf = new JobConf(getConf());
    conf.setJarByClass(Bad.class);
    conf.setOutputKeyClass(Text.class);
    conf.setOutputValueClass(Text.class);
    boolean isNew = arguments[0].equals("new");
    if (!isNew) {
      conf.setNumMapTasks(1);
      conf.setMapperClass(OldMap.class);
      conf.setReducerClass(OldReduce.class);
    }
    Job job = Job.getInstance(conf);
    if (isNew) {
      job.setMapperClass(NewMap.class);
      job.setReducerClass(NewReduce.class);
      FileInputFormat.addInputPath(job, new Path(arguments[1]));
      FileOutputFormat.setOutputPath(job, new Path(arguments[2]));
    } else {
      JobConf old = (JobConf) job.getConfiguration();
      org.apache.hadoop.mapred.FileInputFormat.addInputPath(old, new Path(arguments[1]));
      org.apache.hadoop.mapred.FileOutputFormat.setOutputPath(old, new Path(arguments[2]));
    }
    return job.waitForCompletion(true) ? 0 : 1;
  }

  public static void main(String[] arguments) throws Exception {
    int code = ToolRunner.run(new Configuration(), new Bad(), arguments);
    if (code != 0) {
      System.exit(code);
    }
  }
}
