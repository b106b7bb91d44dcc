package org.yunti.hadoop.conformance.broken;

import java.io.IOException;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.yunti.hadoop.task.NativeMapper;

/** Submitters that replace the plug-in's. They count words in Java for any job, with one small fault per subclass. */
public abstract class BrokenTasks extends Configured implements Tool {
  @Override
  public int run(String[] arguments) throws Exception {
    Job job = Job.getInstance(getConf());
    for (int i = 0; i < arguments.length; i += 2) {
      switch (arguments[i]) {
        case "--input" -> FileInputFormat.addInputPath(job, new Path(arguments[i + 1]));
        case "--output" -> FileOutputFormat.setOutputPath(job, new Path(arguments[i + 1]));
        case "--reduces" -> job.setNumReduceTasks(Integer.parseInt(arguments[i + 1]));
        default -> { }
      }
    }
    job.setMapperClass(NativeMapper.class);
    job.setCombinerClass(WordCount.IntSumReducer.class);
    job.setReducerClass(HonestReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    damage(job);
    return job.waitForCompletion(false) ? 0 : 1;
  }

  abstract void damage(Job job);

  /** Correct; each task reports native. */
  public static final class Honest extends BrokenTasks {
    @Override
    void damage(Job job) {
      // No fault.
    }
  }

  /** Correct, but silently a Java job. */
  public static final class Java extends BrokenTasks {
    @Override
    void damage(Job job) {
      job.setMapperClass(WordCount.TokenizerMapper.class);
    }
  }

  /** Correct, but its reduces report nothing. */
  public static final class SilentReduces extends BrokenTasks {
    @Override
    void damage(Job job) {
      job.setReducerClass(WordCount.IntSumReducer.class);
    }
  }

  /** Correct, but one task reports that it declined. */
  public static final class Declines extends BrokenTasks {
    @Override
    void damage(Job job) {
      job.setReducerClass(DecliningReducer.class);
    }
  }

  /** Counts one word once too often. */
  public static final class Repeats extends BrokenTasks {
    @Override
    void damage(Job job) {
      job.setReducerClass(RepeatingReducer.class);
    }
  }

  /** Correct except for a counter. */
  public static final class Miscounts extends BrokenTasks {
    @Override
    void damage(Job job) {
      job.setReducerClass(MiscountingReducer.class);
    }
  }

  /** Runs no job. */
  public static final class Refuses extends BrokenTasks {
    @Override
    public int run(String[] arguments) {
      System.err.println("yunti: there is something in the way");
      return 3;
    }

    @Override
    void damage(Job job) {
      throw new AssertionError("not called");
    }
  }

  /** Reducer that sums and reports native. */
  public static class HonestReducer extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void setup(Context context) {
      context.getCounter("Yunti", "native").increment(1);
    }

    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context) throws IOException, InterruptedException {
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      context.write(key, new IntWritable(sum));
    }
  }

  /** Reducer of {@link Declines}. */
  public static final class DecliningReducer extends HonestReducer {
    @Override
    protected void setup(Context context) {
      super.setup(context);
      context.getCounter("Yunti", "declined: codec of the moon").increment(1);
    }
  }

  /** Reducer of {@link Repeats}. */
  public static final class RepeatingReducer extends HonestReducer {
    private boolean done;

    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context) throws IOException, InterruptedException {
      int sum = done ? 0 : 1;
      done = true;
      for (IntWritable value : values) {
        sum += value.get();
      }
      context.write(key, new IntWritable(sum));
    }
  }

  /** Reducer of {@link Miscounts}. */
  public static final class MiscountingReducer extends HonestReducer {
    @Override
    protected void setup(Context context) {
      super.setup(context);
      context.getCounter(TaskCounter.MAP_INPUT_RECORDS).increment(1);
    }
  }
}
