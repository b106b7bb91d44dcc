package org.yunti.hadoop.conformance.cases.shape;

import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.trace.Traced;

/** Amounts of data, and their distribution over maps, partitions and keys. */
public final class Extents {
  private static final Draw<Text> KEYS = (random, record) -> new Text("key" + random.nextInt(500));
  private static final Draw<IntWritable> NUMBERS = (random, record) -> new IntWritable(random.nextInt());

  private Extents() {}

  public static List<Case> cases() {
    return List.of(
        sized("shape/empty-files", 3, 0),
        sized("shape/no-files", 0, 0).input(trial -> trial.fileSystem().mkdirs(trial.input("seq"))),
        sized("shape/one-record", 1, 1),
        sized("shape/maps-without-output", 3, 50).tweak(job -> job.setMapperClass(Silent.class)),
        sized("shape/one-map-with-output", 3, 50).tweak(job -> job.setMapperClass(FirstMapOnly.class)),
        sized("shape/empty-partitions", 3, 200).tweak(job -> {
          job.setNumReduceTasks(7);
          job.setPartitionerClass(OddOnly.class);
        }),
        sized("shape/one-partition", 3, 500).tweak(job -> job.setNumReduceTasks(1)),
        sized("shape/seven-partitions", 3, 500).tweak(job -> job.setNumReduceTasks(7)),
        // More than fit in a byte. Each reduce task costs 10 ms of processor time on each side.
        inParallel(sized("shape/three-hundred-partitions", 2, 1500), 8).tweak(job -> job.setNumReduceTasks(300)),
        inParallel(sized("shape/thousand-partitions", 2, 1500), 8).tweak(job -> job.setNumReduceTasks(1000))
            .onlyInSweep(),
        inParallel(sized("shape/maps-in-parallel", 6, 3000), 3),
        Traced.of("shape/skew", Text.class,
            (random, record) -> random.nextInt(100) == 0 ? KEYS.draw(random, record) : new Text("frequent"),
            IntWritable.class, NUMBERS, 3, 4000),
        Traced.of("shape/all-keys-equal", Text.class, Draw.always(new Text("the key")), IntWritable.class, NUMBERS,
            3, 4000),
        Traced.of("shape/keys-already-sorted", IntWritable.class, (random, record) -> new IntWritable(record),
            IntWritable.class, NUMBERS, 3, 4000),
        Traced.of("shape/keys-in-reverse", IntWritable.class, (random, record) -> new IntWritable(-record),
            IntWritable.class, NUMBERS, 3, 4000),
        Traced.digested(sized("shape/million-records", 2, 500)).tweak(job -> job.setMapperClass(Thousandfold.class)),
        Traced.of("shape/records-of-no-bytes", NullWritable.class, Draw.always(NullWritable.get()),
            NullWritable.class, Draw.always(NullWritable.get()), 2, 5000).set("mapreduce.task.io.sort.mb", 1)
            .set("mapreduce.map.sort.spill.percent", "0.02"),
        sized("shape/map-only", 3, 500).order(Order.EXACT).tweak(job -> {
          job.setNumReduceTasks(0);
          job.setMapperClass(BytesOfInt.class);
        }));
  }

  private static Case sized(String name, int files, int recordsPerFile) {
    return Traced.of(name, Text.class, KEYS, IntWritable.class, NUMBERS, files, recordsPerFile);
  }

  private static Case inParallel(Case traced, int tasks) {
    return traced.set("mapreduce.local.map.tasks.maximum", tasks).set("mapreduce.local.reduce.tasks.maximum", tasks)
        .counterMayDiffer("BYTES_READ", "tasks of one JVM share the statistics of the file system")
        .counterMayDiffer("BYTES_WRITTEN", "tasks of one JVM share the statistics of the file system");
  }

  /** Mapper that reads all records and writes none. */
  public static final class Silent extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) {
      context.getCounter("conformance", "silent").increment(1);
    }
  }

  /** Mapper that writes only in the first map task. */
  public static final class FirstMapOnly extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context)
        throws java.io.IOException, InterruptedException {
      if (context.getTaskAttemptID().getTaskID().getId() == 0) {
        context.write(key, value);
      }
    }
  }

  /** Mapper that writes a thousand short records per input record. */
  public static final class Thousandfold extends Mapper<Text, IntWritable, Text, IntWritable> {
    private final Text text = new Text();

    @Override
    protected void map(Text key, IntWritable value, Context context)
        throws java.io.IOException, InterruptedException {
      Random random = new Random(value.get());
      for (int i = 0; i < 1000; i++) {
        text.set(Integer.toString(random.nextInt(700), 36));
        value.set(i);
        context.write(text, value);
      }
    }
  }

  /** Mapper of a job without reduces, which writes the output itself. */
  public static final class BytesOfInt extends Mapper<Text, IntWritable, Text, Text> {
    @Override
    protected void map(Text key, IntWritable value, Context context)
        throws java.io.IOException, InterruptedException {
      context.write(key, new Text(value.toString()));
    }
  }

  /** Partitioner that leaves every other reduce without input. */
  public static final class OddOnly extends Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return ((key.hashCode() & Integer.MAX_VALUE) % (partitions / 2)) * 2 + 1;
    }
  }
}
