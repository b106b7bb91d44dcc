package org.yunti.table.hadoop;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;

/**
 * Program of table/tests/hadoop_test.py: lines {@code NUMBER,USER} and a table of users become {@code CITY NUMBERS..},
 * where the reduce looks up the country of each city in a second table. Without a third argument, the driver does not
 * name the tables: {@code -files} does.
 *
 * <p>The counters of the group {@code Mapped} are {@code TABLE DEVICE,INODE}, by the mappings of the task's process.
 * The driver prints them.
 */
public final class JoinLines extends Configured implements Tool {
  private static final String MAPPED = "Mapped";
  private static final int REFUSED = 3;
  private static final String USERS = "users";
  private static final String CITIES = "cities";

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new JoinLines(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    Job job = Job.getInstance(getConf(), "join lines");
    job.setJarByClass(JoinLines.class);
    job.setMapperClass(Join.class);
    job.setReducerClass(Gather.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(LongWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, new Path(arguments[0]));
    FileOutputFormat.setOutputPath(job, new Path(arguments[1]));
    boolean isRefused = false;
    for (int i = 2; i < arguments.length; i++) {
      String[] table = arguments[i].split("=", 2);
      try {
        SharedTables.add(job, table[0], new Path(table[1]));
      } catch (IOException | RuntimeException e) {
        System.err.println("join: " + e.getMessage());
        isRefused = true;
      }
    }
    if (isRefused) {
      return REFUSED;
    }
    boolean isDone = job.waitForCompletion(true);
    for (Counter tasks : job.getCounters().getGroup(MAPPED)) {
      System.out.println(tasks.getName() + "=" + tasks.getValue());
    }
    return isDone ? 0 : 1;
  }

  /** Counts the mapping of a table, as the kernel has it. */
  private static void countMapping(TaskInputOutputContext<?, ?, ?, ?> context, String name, SharedTable table)
      throws IOException {
    String end = " " + table.path();
    for (String line : Files.readAllLines(Paths.get("/proc/self/maps"), StandardCharsets.UTF_8)) {
      if (line.endsWith(end)) {
        String[] words = line.split(" +");
        context.getCounter(MAPPED, name + " " + words[3] + "," + words[4]).increment(1);
        return;
      }
    }
    throw new IOException(table.path() + " is not mapped");
  }

  /** NUMBER,USER becomes CITY, NUMBER. */
  public static final class Join extends Mapper<LongWritable, Text, Text, LongWritable> {
    private final Text city = new Text();
    private final LongWritable number = new LongWritable();
    private SharedTable users;

    @Override
    protected void setup(Context context) throws IOException {
      users = SharedTables.open(context, USERS);
      countMapping(context, USERS, users);
    }

    @Override
    protected void map(LongWritable at, Text line, Context context) throws IOException, InterruptedException {
      String[] fields = line.toString().split(",");
      Row user = users.get(Long.parseLong(fields[1]));
      if (user != null) {
        city.set(user.getUtf8("city"));
        number.set(Long.parseLong(fields[0]));
        context.write(city, number);
      }
    }

    @Override
    protected void cleanup(Context context) {
      users.close();
    }
  }

  /** CITY, NUMBER.. becomes CITY, COUNTRY COUNT SUM. */
  public static final class Gather extends Reducer<Text, LongWritable, Text, Text> {
    private SharedTable cities;

    @Override
    protected void setup(Context context) throws IOException {
      cities = SharedTables.open(context.getConfiguration(), CITIES);
      countMapping(context, CITIES, cities);
    }

    @Override
    protected void reduce(Text city, Iterable<LongWritable> numbers, Context context)
        throws IOException, InterruptedException {
      long count = 0;
      long sum = 0;
      for (LongWritable number : numbers) {
        count++;
        sum += number.get();
      }
      context.write(city, new Text(cities.get(city.toString()).getUtf8("country") + " " + count + " " + sum));
    }

    @Override
    protected void cleanup(Context context) {
      cities.close();
    }
  }
}
