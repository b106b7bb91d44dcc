package org.yunti.hadoop.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole jobs in this JVM whose keys are of a user-defined class: sorted by a normaliser, by their comparator, or
 * unsorted.
 */
class KeyNormaliserTest {
  private static final int ROWS = 20_000;

  /** Key of a name and a number: names ascend, the numbers of a name descend. */
  public static final class Scored implements WritableComparable<Scored> {
    private String name = "";
    private int score;

    @Override
    public void write(DataOutput out) throws IOException {
      // The number first, so that the serialised bytes do not have the order of the keys.
      out.writeInt(score);
      out.writeUTF(name);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      score = in.readInt();
      name = in.readUTF();
    }

    @Override
    public int compareTo(Scored other) {
      int names = name.compareTo(other.name);
      return names != 0 ? names : Integer.compare(other.score, score);
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Scored s && compareTo(s) == 0;
    }
  }

  /** Normal form of that order, for ASCII names without zeros. */
  public static final class ScoredNormaliser implements KeyNormaliser<Scored> {
    static final AtomicLong CALLS = new AtomicLong();

    @Override
    public boolean serves(Class<?> keyClass, RawComparator<?> comparator) {
      return keyClass == Scored.class && comparator.getClass() == WritableComparator.class;
    }

    @Override
    public void normalise(Scored key, DataOutput to) throws IOException {
      CALLS.incrementAndGet();
      to.writeBytes(key.name);
      to.writeByte(0);
      to.writeInt(~key.score ^ Integer.MIN_VALUE);
    }
  }

  public static final class Read extends Mapper<LongWritable, Text, Scored, Text> {
    private final Scored key = new Scored();

    @Override
    protected void map(LongWritable at, Text line, Context context) throws IOException, InterruptedException {
      String[] parts = line.toString().split(" ");
      key.name = parts[0];
      key.score = Integer.parseInt(parts[1]);
      context.write(key, line);
    }
  }

  public static final class Write extends Reducer<Scored, Text, Text, NullWritable> {
    @Override
    protected void reduce(Scored key, Iterable<Text> lines, Context context) throws IOException, InterruptedException {
      for (Text line : lines) {
        assertEquals(key.name + " " + key.score, line.toString());
        context.write(line, NullWritable.get());
      }
    }
  }

  private static Job job(Path folder, String output, Configuration conf) throws Exception {
    conf.set(
        "mapreduce.job.map.output.collector.class",
        "org.yunti.hadoop.collect.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
    conf.set("mapreduce.job.reduce.shuffle.consumer.plugin.class", "org.yunti.hadoop.shuffle.NativeShuffle");
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    conf.setInt("mapreduce.task.io.sort.mb", 1);
    conf.setInt("mapreduce.client.completion.pollinterval", 50);
    conf.setLong("mapreduce.input.fileinputformat.split.maxsize", 100_000);
    Job job = Job.getInstance(conf);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(folder.resolve("in").toUri()));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(folder.resolve(output).toUri()));
    return job;
  }

  private static Counters run(Path folder, String output, Configuration conf) throws Exception {
    Job job = job(folder, output, conf);
    job.setMapperClass(Read.class);
    job.setReducerClass(Write.class);
    job.setMapOutputKeyClass(Scored.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(NullWritable.class);
    assertTrue(job.waitForCompletion(false));
    return job.getCounters();
  }

  @Test
  void sortsOwnKeysByANormaliserOrTheirComparator(@TempDir Path folder) throws Exception {
    Random random = new Random(5);
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      rows.add("n" + random.nextInt(40) + " " + (random.nextInt(2000) - 1000));
    }
    Files.createDirectories(folder.resolve("in"));
    Files.writeString(folder.resolve("in/rows"), String.join("\n", rows) + "\n");
    rows.sort((a, b) -> {
      String[] x = a.split(" ");
      String[] y = b.split(" ");
      int names = x[0].compareTo(y[0]);
      return names != 0 ? names : Integer.compare(Integer.parseInt(y[1]), Integer.parseInt(x[1]));
    });

    Configuration with = new Configuration();
    with.set(KeyNormaliser.SETTING, ScoredNormaliser.class.getName());
    Counters counters = run(folder, "with", with);
    long maps = counters.getGroup("Yunti").findCounter("native").getValue();
    assertTrue(maps > 1, "maps are native: " + counters.getGroup("Yunti"));
    assertEquals(rows, Files.readAllLines(folder.resolve("with/part-r-00000")));

    assertEquals(1, counters.getGroup("Yunti").size(), "the reduce is native too: " + counters.getGroup("Yunti"));

    assertEquals(2 * ROWS, ScoredNormaliser.CALLS.get(), "in the maps, and in the reduce");

    // Too small for all segments, so that some are merged to disk.
    with.setInt("yunti.hadoop.reduce.memory.mb", 1);
    run(folder, "small", with);
    assertEquals(rows, Files.readAllLines(folder.resolve("small/part-r-00000")));

    long bytes = counters.findCounter(TaskCounter.MAP_OUTPUT_BYTES).getValue();
    counters = run(folder, "without", new Configuration());
    assertEquals(counters.findCounter(TaskCounter.MAP_OUTPUT_BYTES).getValue(), bytes);
    assertEquals(maps, counters.getGroup("Yunti").findCounter("native").getValue());
    assertEquals(rows, Files.readAllLines(folder.resolve("without/part-r-00000")));
  }

  /** Emits a one for each row of a key. */
  public static final class Count extends Mapper<LongWritable, Text, Scored, IntWritable> {
    private static final IntWritable ONE = new IntWritable(1);
    private final Scored key = new Scored();

    @Override
    protected void map(LongWritable at, Text line, Context context) throws IOException, InterruptedException {
      key.name = line.toString().split(" ")[0];
      context.write(key, ONE);
    }
  }

  public static final class Sum extends Reducer<Scored, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Scored key, Iterable<IntWritable> ones, Context context)
        throws IOException, InterruptedException {
      int n = 0;
      for (IntWritable one : ones) {
        n += one.get();
      }
      context.write(new Text(key.name), new IntWritable(n));
    }
  }

  /** Runs a job that counts rows by key, with Hadoop's sum as the combiner. */
  private static Job counted(Path folder, String out, Configuration conf) throws Exception {
    Job job = job(folder, out, conf);
    job.setMapperClass(Count.class);
    job.setCombinerClass(IntSumReducer.class);
    job.setReducerClass(Sum.class);
    job.setMapOutputKeyClass(Scored.class);
    job.setMapOutputValueClass(IntWritable.class);
    assertTrue(job.waitForCompletion(false));
    return job;
  }

  @Test
  void addsWithHadoopsSumOverOwnKeys(@TempDir Path folder) throws Exception {
    Files.createDirectories(folder.resolve("in"));
    Files.writeString(folder.resolve("in/rows"), "b 1\na 1\nb 2\n".repeat(5000));
    Configuration conf = new Configuration();
    conf.set(KeyNormaliser.SETTING, ScoredNormaliser.class.getName());
    Job job = counted(folder, "out", conf);
    assertTrue(job.getCounters().getGroup("Yunti").findCounter("native").getValue() > 0);
    assertEquals(List.of("a\t5000", "b\t10000"), Files.readAllLines(folder.resolve("out/part-r-00000")));
  }

  @Test
  void leavesRecordsUnsortedIfTheSortIsOff(@TempDir Path folder) throws Exception {
    Random random = new Random(6);
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      rows.add("n" + random.nextInt(9000) + " " + i);
    }
    Files.createDirectories(folder.resolve("in"));
    Files.writeString(folder.resolve("in/rows"), String.join("\n", rows) + "\n");
    Configuration conf = new Configuration();
    conf.setBoolean(SortSetting.SETTING, false);
    // Too small for all segments, so that some are merged to disk.
    conf.setInt("yunti.hadoop.reduce.memory.mb", 1);
    Counters counters = run(folder, "unsorted", conf);
    assertTrue(counters.getGroup("Yunti").findCounter("native").getValue() > 2, "maps and the reduce are native");
    assertEquals(1, counters.getGroup("Yunti").size(), "nothing declined");
    List<String> got = Files.readAllLines(folder.resolve("unsorted/part-r-00000"));
    long ascents = 0;
    for (int i = 1; i < got.size(); i++) {
      ascents += got.get(i - 1).compareTo(got.get(i)) <= 0 ? 1 : 0;
    }
    assertTrue(ascents < got.size() * 3L / 4, "nothing was sorted: " + ascents);
    got.sort(null);
    rows.sort(null);
    assertEquals(rows, got);

    // A combiner needs adjacent equal keys.
    conf = new Configuration();
    conf.setBoolean(SortSetting.SETTING, false);
    counted(folder, "combined", conf);
    assertEquals(
        rows.stream().map(row -> row.split(" ")[0]).distinct().count(),
        Files.readAllLines(folder.resolve("combined/part-r-00000")).size());
  }
}
